package params

import (
	"fmt"
	"strings"
	"testing"
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
		{"moved", []launch{steady, {0.055, 150, 152}, steady, {0.055, 37, 157}, steady, steady}, "took 39 ns in most looks of the probe, and in 3 of 12 twice as long"},
		{"nearer", []launch{steady, {0.055, 12, 12}, steady, steady, steady, steady}, "in 2 of 12 twice as long or half"},
		{"few", []launch{steady, {0.1, 150, 150}}, ""},
		{"other processors", []launch{{0, 37, 38}, {0, 37, 38}, {0, 37, 38}, {0, 37, 38}, {0, 37, 38}, {0, 37, 38}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := new(File)
			for session := range 2 { // the first is always steady
				all := c.launches
				if session == 0 {
					all = []launch{steady, steady, steady, steady, steady, steady}
				}
				for _, l := range all {
					f.Launches = append(f.Launches, Launch{Session: session, Instruction: l.instruction, Probe: []ProbeReading{
						{Key: Key{Kind: NullCell}, NS: l.first}, {Key: Key{Kind: TransferCell}, NS: 10 * l.first}, {Key: Key{Kind: NullCell}, NS: l.last},
					}})
				}
			}
			err := f.Unsteady()
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
