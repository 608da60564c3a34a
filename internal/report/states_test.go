package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/params"
)

// A sweep of a machine in two states has transfers, y, c and widths of intervals in each. A sweep in one
// state does not mention states.
func TestSweepByState(t *testing.T) {
	f := must.Get(params.ReadFile(sweeptest.Moved(t)))
	var b bytes.Buffer
	Sweep(f, Reach{}).WriteText(&b)
	text := b.String()
	states := f.States()
	if len(states) != 2 {
		t.Fatalf("%v", states)
	}
	near, far := compare.InWords(states[0]), compare.InWords(states[1])
	before := -1
	for _, want := range []string{
		"The machine was in 2 states, told apart by what a flag from one to the other takes:\nflag    of the time  lasts",
		"\n\nF" + near[1:] + " of the time:\n\nL(m,τ) in ns, ring, placement local",
		"\n\nF" + far[1:] + " of the time:\n\nL(m,τ) in ns, ring, placement local",
		"\ny(τ) and c(8K,τ) = L − y in ns by what a flag takes, ring, placement local, in cache\n  τ",
		" cells in ", "\n" + near + " of the time: 95 % intervals within ±", "\n" + far + " of the time: 95 % intervals within ±",
		" samples the machine changed its state: they count for none\n",
	} {
		at := strings.Index(text, want)
		if at <= before {
			t.Errorf("%q is not there, or too early, in\n%s", want, text)
		}
		before = at
	}
	// y, c and L of the simulated machine, and four times these.
	for _, row := range []string{`\n  2 +\d{2,3} +\d{3} +\d{3} +\d{4}\n`, `\n  8K +\d{3} +\d{3} +[12][ ↑]*\n`, `\n  8K +\d{4} +\d{4} +[12][ ↑]*\n`} {
		if !regexp.MustCompile(row).MatchString(regexp.MustCompile(`\.\d+`).ReplaceAllString(strings.ReplaceAll(text, " ?", ""), "")) {
			t.Errorf("no row is like %s in\n%s", row, text)
		}
	}
	one := must.Get(f.InState(2, params.State{NS: 60}))
	b.Reset()
	if Sweep(one, Reach{}).WriteText(&b); strings.Contains(b.String(), "state") || strings.Contains(strings.ToLower(b.String()), "flag ") {
		t.Errorf("states of a machine of one:\n%s", b.String())
	}
}

func TestSlowedStates(t *testing.T) {
	alone, far := params.State{NS: 60, Share: 0.5}, params.State{NS: 240, Above: 120, Share: 0.5}
	slowed := params.State{NS: 60, Share: 0.5, Slow: 9.8}
	for want, states := range map[string][]params.State{
		"":                          {alone, far},
		"Slowed is":                 {slowed, far},
		"Cores were sl":             {slowed, {NS: 240, Above: 120, Slow: 9.8}},
		"Cores were slowed all the": {slowed},
	} {
		d := document.New("", nil, nil, func(w *document.Document) { sayStates(w, 2, states) })
		var b strings.Builder
		if d.WriteText(&b); !strings.Contains(b.String(), "\n"+want) || strings.HasPrefix(b.String(), "The machine was in 2") != (len(states) == 2) {
			t.Errorf("%v: %q, want %q", states, b.String(), want)
		}
	}
}
