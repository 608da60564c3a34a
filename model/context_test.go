package model

import (
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
)

// A whole segment costs what it costs in its message, all else what it costs by
// itself.
func TestInContext(t *testing.T) {
	c := InContext{Parameters: plain{}, Segment: 1000, Message: 5000}
	for _, tt := range []struct{ got, want float64 }{
		{first(c.L(1000, 2)), l(5000, 2)},
		{first(c.L(999, 2)), l(999, 2)},
		{first(InContext{Parameters: plain{}, Segment: 1000, Message: 500}.L(1000, 2)), l(1000, 2)},
	} {
		if tt.got != tt.want {
			t.Errorf("%g, want %g", tt.got, tt.want)
		}
	}
}

func first(v float64, _ bool) float64 { return v }

// A copy in a call takes no less than its share of one that fills the cache as the call does,
// and no less than by itself.
func TestCrowd(t *testing.T) {
	sizes, message := []int{1000, 2000, 4000, 8000}, alone(1000)
	alone := func(m, _ int) (float64, bool) { // beyond 2000 bytes each takes five times as long
		return float64(m + 4*max(0, m-2000)), false
	}
	for _, tt := range []struct {
		touched, m int
		want       float64
	}{
		{0, 2000, 2000},               // nothing is known of the call
		{4000, 2000, 2000},            // no more than the copy itself
		{8000, 2000, 1000 + 11000./3}, // a third of the way from 1000 to 4000 bytes
		{8000, 1000, 1000},            // the least is the same everywhere
		{1 << 20, 8000, 32000},
		{1 << 20, 2000, 1000 + (32000.-1000)/7}, // no longer ones were measured
	} {
		if got, _ := (crowd{tt.touched}).cost(alone, sizes, 2, tt.m, 1); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%d bytes of %d take %g, want %g", tt.m, tt.touched, got, tt.want)
		}
	}
	level := func(m, _ int) (float64, bool) { return 1000 * float64(min(m/1000, 2)), false }
	if got, _ := (crowd{16000}).cost(level, sizes, 2, 2000, 1); got != 2000 {
		t.Errorf("%g, want no less than the copy by itself", got)
	}
	s := schedule(t, "allgather:two-proc", collective.Call{P: 2, M: 1000})
	if got := crowdOf(s); got.bytes != 4000 {
		t.Errorf("ranks of an allgather of two send 1000 bytes, receive 2000 and read 1000, in all %d", got.bytes)
	}
	if got := crowdOf(message); got.bytes != 0 {
		t.Errorf("of a message by itself the call is not known, got %d", got.bytes)
	}
}

// doubled is plain, twice as slow.
type doubled struct{ plain }

func (doubled) L(m, tau int) (float64, bool) { return 2 * l(m, tau), false }

// Each stage takes the parameters of its messages: of exchanges Apart, of what the call has
// written into temporary buffers, where what is to be reduced arrives, Temporary, and of what
// nobody has touched into these, common ones.
func TestPatternsOfStages(t *testing.T) {
	m := TauLop{Parameters: plain{}, Reductions: plain{}, Segment: 1000, NoOverhead: true}
	cost := func(m TauLop, name string) Cost {
		t.Helper()
		c, err := m.Cost(schedule(t, name, collective.Call{P: 2, M: 5000}))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	all := m
	all.OneWay, all.Arriving, all.Apart, all.Temporary = doubled{}, doubled{}, doubled{}, doubled{}
	for name, mark := range map[string]string{
		"bcast:binomial": "→", "allgather:ring": "⇄", "alltoall:pairwise": "⇄", "allgather:bruck": "°", "barrier:dissemination": "⇄",
		"allreduce:recursive-doubling": "°", "reduce_scatter:pairwise": "", "reduce_scatter:ring": "°", "reduce_scatter:recursive-halving": "°",
	} {
		twice, once := cost(all, name), cost(m, name)
		for i, term := range twice.Terms {
			factor := 1.
			if term.Parameter == "L" {
				if !strings.HasPrefix(term.Name(), "L"+mark+"(") {
					t.Errorf("%s: %s, want L%s", name, term.Name(), mark)
				}
				if mark != "" {
					factor = 2
				}
			}
			if term.Seconds != factor*once.Terms[i].Seconds {
				t.Errorf("%s: %s is %g, want %g times %g", name, term.Name(), term.Seconds, factor, once.Terms[i].Seconds)
			}
		}
	}
}

// Off cache, where messages come from and go to decides: what the call has written is at hand,
// and so is where it has been.
func TestAtHandInTheCall(t *testing.T) {
	m := TauLop{Parameters: plain{}, Reductions: plain{}, Segment: 1000, Copies: plain{}.L, CopiesIn: plain{}.L, CopiesOut: plain{}.L, CopiesAtHand: plain{}.L,
		OneWay: plain{}, Apart: plain{}, Temporary: plain{}, Onward: plain{}}
	for _, tt := range []struct {
		name    string
		p       int
		evicted bool
		want    []string // terms in the order of the formula, which has like ones together
	}{
		{"alltoall:pairwise", 2, false, []string{"c(", "L⇄("}},
		{"allgather:ring", 2, false, []string{"c(", "L°⇄("}},
		{"allgather:ring", 2, true, []string{"c(", "L⇄("}},
		{"alltoall:bruck", 2, false, []string{"c→°(", "c°(", "L°⇄(", "c°→("}},
		{"alltoall:bruck", 2, true, []string{"c→°(", "c°(", "L⇄(", "c°→("}},
		{"alltoall:bruck", 8, false, []string{"c→°(", "c°(", "L°⇄(", "L°("}}, // the second lands where the first did
		{"allreduce:rabenseifner", 2, false, []string{"c(", "4kL°("}},
		{"allreduce:rabenseifner", 2, true, []string{"c(", "L(", "L⇄("}},
	} {
		s := schedule(t, tt.name, collective.Call{P: tt.p, M: 8000, Element: 4})
		m.Call, m.Evicted = s, tt.evicted
		c, err := m.Cost(s)
		if err != nil {
			t.Fatal(err)
		}
		rest := c.Formula()
		for _, want := range tt.want {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("%s, P = %d, evicted %v: %s; want %q in this order", tt.name, tt.p, tt.evicted, c.Formula(), tt.want)
				break
			}
			rest = after
		}
	}
}
