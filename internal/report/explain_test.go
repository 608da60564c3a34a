package report

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/params"
)

// Shares of terms add up to 100 %, and rare states share a line.
func TestExplanation(t *testing.T) {
	e := predict.Explanation{Described: "here", Formula: "a + b + c",
		States: []predict.StateCost{{State: params.State{NS: 60, Share: 0.6}, Microseconds: 1}, {State: params.State{NS: 240, Share: 0.33}, Microseconds: 2}}}
	for _, name := range []string{"L(S,1)", "L(S,2)", "L(S,4)"} {
		e.Terms = append(e.Terms, predict.ExplainTerm{Parameter: name, Times: 2, Value: 0.5, Microseconds: 1, Share: 1. / 3})
	}
	d := document.New("", nil, nil, func(w *document.Document) { sayExplanation(w, &e) })
	var b strings.Builder
	d.WriteText(&b)
	contains.All(t, b.String(), "  other states, 7 % of the time together: in the mean above", "     L(S,1)      2  ×  0.5000  =  1.000   33.4\n", "     L(S,2)      2  ×  0.5000  =  1.000   33.3\n", "  100.0\n")
}
