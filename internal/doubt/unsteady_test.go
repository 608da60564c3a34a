package doubt

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/params"
)

func TestUnsteady(t *testing.T) {
	// launches of a session: what an instruction took, and a flag at the beginning and the end, ns.
	type launch struct{ instruction, first, last float64 }
	steady := launch{0.055, 37, 39}
	for _, c := range []struct {
		name     string
		launches []launch
		want     string
	}{
		{"steady", []launch{steady, steady, steady, steady, steady, steady, {0.06, 45, 30}}, ""},
		{"one slow launch and one look elsewhere", []launch{steady, steady, steady, steady, steady, steady, {0.1, 37, 150}}, ""},
		{"neighbours", []launch{steady, {0.1, 37, 38}, steady, {0.1, 37, 38}, {0.098, 37, 39}, steady, steady}, "an instruction took 0.055 ns in the quickest quarter of launches and 0.1 in the slowest"},
		{"moved", []launch{steady, {0.055, 150, 152}, steady, {0.055, 37, 157}, steady, steady}, "took 39 ns in most readings of the probe, and twice as long or half in 3 of 12"},
		{"nearer", []launch{steady, {0.055, 12, 12}, steady, steady, steady, steady}, "twice as long or half in 2 of 12"},
		{"few", []launch{steady, {0.1, 150, 150}}, ""},
		{"other processors", []launch{{0, 37, 38}, {0, 37, 38}, {0, 37, 38}, {0, 37, 38}, {0, 37, 38}, {0, 37, 38}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := new(params.File)
			for session := range 2 { // the first is always steady
				all := c.launches
				if session == 0 {
					all = []launch{steady, steady, steady, steady, steady, steady}
				}
				for _, l := range all {
					f.Launches = append(f.Launches, params.Launch{Session: session, Instruction: l.instruction, Probe: []params.ProbeReading{
						{Key: params.Key{Kind: params.NullCell}, NS: l.first}, {Key: params.Key{Kind: params.TransferCell}, NS: 10 * l.first}, {Key: params.Key{Kind: params.NullCell}, NS: l.last},
					}})
				}
			}
			err := Steady(f)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if got := fmt.Sprint(err); !strings.Contains(got, c.want) || !strings.Contains(got, "in session 2,") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// The probe's readings of workers whose samples are sorted by state give no warning, whether states alternate
// or follow each other. Readings of other workers do.
func TestSortedIsSteady(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 4} {
		f := new(params.File)
		for i := range 12 {
			flag, instruction := 60., 0.05
			if i >= 6 { // as if it rose
				flag, instruction = 240+float64(i), 0.1
			}
			f.Launches = append(f.Launches, params.Launch{Instruction: instruction, Probe: []params.ProbeReading{{Key: params.Key{Kind: params.NullCell, Setup: params.Ring, Tau: 2}, NS: flag + float64(i)}}})
		}
		if workers > 0 {
			f.Watches = []params.Watch{{CPUs: make([]int, workers), States: []params.State{{NS: 60, Share: 0.5}, {NS: 240, Above: 120, Share: 0.5}}}}
		}
		said := fmt.Sprint(Steady(f))
		for what, with := range map[string]int{"an instruction took": 1, "a flag between two CPUs took": 2} {
			if strings.Contains(said, what) != (workers != with) {
				t.Errorf("states of %d workers: %s", workers, said)
			}
		}
		if drifts := Drifts(f); (len(drifts) > 0) != (workers != 2) {
			t.Errorf("states of %d workers: %v", workers, drifts)
		}
	}
}

// Drifts are found among as many launches as a file may hold, in one session or in thousands, within seconds.
func TestManyLaunches(t *testing.T) {
	const launches = 1 << 16
	for _, sessions := range []int{1, launches / 16} {
		f := new(params.File)
		each := launches / sessions
		for i := range launches {
			at := 1 + float64(i%each)/float64(each) // twice as long at the end
			f.Launches = append(f.Launches, params.Launch{Session: i / each, Probe: []params.ProbeReading{{Key: params.Key{Kind: params.NullCell, Tau: 2}, NS: 100 * at}}})
		}
		for session := range sessions {
			f.Watches = append(f.Watches, params.Watch{Session: session, CPUs: []int{0, 1, 2}, States: []params.State{{NS: 60, Share: 0.5}, {NS: 240, Above: 120, Share: 0.5}}})
		}
		drifts := Drifts(f)
		if len(drifts) != sessions {
			t.Fatalf("%d of %d sessions drift", len(drifts), sessions)
		}
		if d := drifts[0].(Drift); math.Abs(d.Change-1) > 0.5 {
			t.Errorf("%d sessions: %+v", sessions, d)
		}
		if Steady(f) != nil {
			t.Error(Steady(f))
		}
	}
}
