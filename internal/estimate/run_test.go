package estimate

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Both variants run on one rank and on four, which are oversubscribed on fewer CPUs.
func TestRun(t *testing.T) {
	m := surveytest.Machine(t, 1)
	for _, c := range []Cannon{{N: 40, P: 1}, {N: 37, P: 4}} {
		f := surveytest.Run(t, m, Survey, c)
		check.Need(t, len(f.Cells) == 2, "%d cells, want 2", len(f.Cells))
		// simple has no products, so there is no estimate.
		check.Error(t, must.Err(c.Runs(f, NewMachine("host", []*params.File{simple()}, model.Choice{}))), "an estimate without parameters")
		for i := range f.Cells {
			f.Cells[i].Time = exactly(1e6)
		}
		runs := must.Get(c.Runs(f, NewMachine("host", []*params.File{sp.file(), multiplying()}, model.Choice{})))
		for _, r := range runs {
			want := r.Total.Center/1e6 - 1
			check.True(t, r.Error == want && r.Ranks == c.P, "%+v: error %g of %s, want %g", c, r.Error, r.Variant, want)
		}
	}
}

// multiplying has the parameters of Cannon's multiplication that the SP's tables lack.
func multiplying() *params.File {
	f := &params.File{}
	f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.AccessCell, Tau: 1, Bytes: 8 << 10}.Named("multiply-float64-1"), Time: exactly(1e3)})
	for _, m := range []int{1 << 10, 1 << 20} {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.PatternCell, Tau: 4, Bytes: m}.Named("permutation-1"), Time: exactly(float64(m))})
	}
	return f
}

// One wrong element of a product is found.
func TestChecksProducts(t *testing.T) {
	m := surveytest.Machine(t, 1)
	run := must.Get(Cannon{N: 24, P: 4}.lay(must.Get(m.Place(numa.Local, 4)), true, false))
	defer run.close()
	must.Get(run.once(context.Background()))
	for at := range run.ranks[3].a {
		a := &run.ranks[3].a[at]
		*a++
		contains.Error(t, run.check(run.ranks[3]), "cannot be trusted")
		*a--
	}
}

func TestCannonCheck(t *testing.T) {
	for _, tt := range []struct {
		c    Cannon
		want string
	}{
		{Cannon{512, 1}, ""}, {Cannon{8, 4}, ""}, {Cannon{2048, 1024}, ""},
		{Cannon{7, 1}, "from 8 to 2048"}, {Cannon{2049, 1}, "from 8 to 2048"},
		{Cannon{512, 2}, "no square"}, {Cannon{512, 0}, "no square"}, {Cannon{512, -4}, "no square"}, {Cannon{512, 1025}, "no square"},
	} {
		contains.Error(t, tt.c.Check(), tt.want)
		if tt.want == "" {
			tt.c.Program(Plain)
			tt.c.Program(Transposed)
		}
	}
}

// The examples are the programs of Cannon.Program.
func TestExamplesAreRun(t *testing.T) {
	for file, variant := range map[string]string{"cannon.toml": Plain, "cannon-transposed.toml": Transposed} {
		p := must.Get(ReadFile(filepath.Join(examples, file)))
		want := (Cannon{512, 1}).Program(variant)
		check.True(t, p.Name == want.Name && p.Ranks == want.Ranks && slices.Equal(p.Phases, want.Phases),
			"%s is\n%+v, Cannon.Program\n%+v", file, *p, *want)
	}
}
