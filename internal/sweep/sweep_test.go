package sweep

import (
	"fmt"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	_ "github.com/taulop/taulop/internal/survey/levels" // registers the survey copy
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Missing names the cells that a short sweep did not reach.
func TestMissing(t *testing.T) {
	m, err := numa.Discover("/")
	if err != nil {
		t.Skip(err)
	}
	plan := params.Plan{Setups: []string{params.Ring}, Policies: []numa.Policy{numa.Local}, Sizes: []int{64, 8192}, Taus: []int{2},
		Segments: 2, SegmentBytes: 8192, Caches: []bool{false}, Operators: []string{"SUM_I"}, With: []string{"copy"}}
	f := &params.File{Plan: plan}
	x := must.Get(Experiment(f, m, 0))
	for i, c := range x.Cells {
		if c.Kind == params.TransferCell || c.Kind == params.NullCell || c.Kind == params.PRTTCell {
			c.Time = fit.Estimate{Center: 1, Lo: 1, Hi: 1, N: 6}
		} else if i%2 == 0 || c.Kind == params.LevelCell {
			continue
		}
		f.Cells = append(f.Cells, c.Cell)
	}
	s := &Session{Experiment: x}
	if got := fmt.Sprint(s.Missing()); !strings.Contains(got, " of copy, ") || !strings.Contains(got, "(all ") || !strings.Contains(got, "of 2 γ") || strings.Contains(got, "transfers") {
		t.Error(got)
	}
}
