package doubt

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Eq. (8) does not compare an isolated message with a ring off cache, which receives into another buffer.
func TestBoundsOfRingOffCache(t *testing.T) {
	for _, tt := range []struct {
		setup string
		off   bool
		want  int
	}{{params.Ring, true, 0}, {params.Ring, false, 1}, {params.Sendrecv, true, 1}} {
		f := &params.File{Plan: params.Plan{Setups: []string{tt.setup}, Policies: []numa.Policy{numa.Local}, Sizes: []int{8192}, Taus: []int{1, 2}, Caches: []bool{tt.off}}}
		for _, c := range []params.Cell{
			{Key: params.Key{Kind: params.TransferCell, Setup: params.Isolated, Tau: 1}, Time: exactly(2000)},
			{Key: params.Key{Kind: params.TransferCell, Setup: tt.setup, Tau: 2}, Time: exactly(1000)},
		} {
			c.Placement, c.OffCache, c.Bytes, c.K, c.Transfers = numa.Local, tt.off, 8192, 1, 1
			f.Cells = append(f.Cells, c)
		}
		if got := Bounds(f.Transfers()); len(got) != tt.want {
			t.Errorf("%s, off cache %v: %v, want %d", tt.setup, tt.off, got, tt.want)
		}
	}
}

func exactly(ns float64) fit.Estimate { return fit.Estimate{Center: ns, Lo: ns, Hi: ns, N: 6} }

// The first two times are of metropolis. Without intervals every difference counts.
func TestBoundsOfPublishedFile(t *testing.T) {
	table := &params.Table{Transfers: params.Curve{Sizes: []int{1}, Taus: []int{1, 2, 3}, Times: [][]float64{{289.4e-9, 147.725e-9, 900e-9}}}, Overheads: []float64{0}}
	all := Bounds(params.FromText(table, nil).Transfers())
	var got []string
	for _, v := range all {
		got = append(got, v.Error())
	}
	if want := []string{
		"eq. (8) is broken (published, placement published, in cache): L(1,2) = 147.72 ns is below L(1,1) = 289.4 ns, with fewer transfers at once",
		"eq. (8) is broken (published, placement published, in cache): L(1,3) = 900 ns is above 3 times L(1,1) = 289.4 ns: worse than one after the other",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// Only breaches beyond the intervals count, and none with too few samples.
func TestBoundsWithinIntervals(t *testing.T) {
	f := &params.File{Plan: params.Plan{Setups: []string{params.Ring}, Policies: []numa.Policy{numa.Local}, Caches: []bool{false}}}
	for tau, ns := range map[int]float64{2: 240, 4: 480} {
		f.Cells = append(f.Cells, params.Cell{K: 1, Transfers: 2, Time: exactly(ns),
			Key: params.Key{Kind: params.TransferCell, Setup: params.Ring, Placement: numa.Local, Tau: tau, Bytes: 64}})
	}
	if got := Bounds(f.Transfers()); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	four := &f.Cells[slices.IndexFunc(f.Cells, func(c params.Cell) bool { return c.Tau == 4 })] // L = 240, twice L(64,2)
	four.Time = fit.Estimate{Center: 500, Lo: 470, Hi: 520, N: 6}
	if got := Bounds(f.Transfers()); len(got) != 0 {
		t.Errorf("within its interval: got %v", got)
	}
	four.Time = fit.Estimate{Center: 500, Lo: 490, Hi: 520, N: 6}
	got := Bounds(f.Transfers())
	if len(got) != 1 || got[0].Tau != 2 || got[0].A != 2 || !got[0].Above || got[0].Many.Center != 250 ||
		!strings.Contains(got[0].Error(), "L(64,4) = 250 [245, 260] ns is above 2 times L(64,2) = 120 ns") {
		t.Errorf("got %v", got)
	}
	four.Time = fit.Median([]float64{900, 901})
	if got := Bounds(f.Transfers()); len(got) != 0 {
		t.Errorf("of two samples: got %v", got)
	}
}

// Data count as in a cache if half of the launches at a placement and τ found them there, not one launch
// alone.
func TestInCache(t *testing.T) {
	launch := func(loads ...params.Loads) params.Launch { return params.Launch{Loads: loads} }
	next := func(tau int, ns float64) params.Loads {
		return params.Loads{Placement: numa.Local, Tau: tau, Next: ns, Flushed: 116, Cached: 4.4}
	}
	memory, cache := func(tau int) params.Loads { return next(tau, 112) }, func(tau int) params.Loads { return next(tau, 60) }
	for _, tt := range []struct {
		launches []params.Launch
		want     string
	}{
		{nil, ""},
		{[]params.Launch{launch(), launch()}, ""},
		{[]params.Launch{launch(memory(1), memory(2)), launch(memory(1), cache(2)), launch(memory(2), memory(1))}, ""},
		{[]params.Launch{launch(memory(1), cache(2)), launch(cache(2), cache(1)), launch(memory(1), memory(2))},
			"in placement local, τ = 2: a cache held 50 % of the next messages' data; a read took 60 ns, from memory 116 ns"},
		{[]params.Launch{launch(cache(1), cache(2))}, "in placement local, τ = 1, and in 1 more"},
	} {
		f := &params.File{Launches: tt.launches}
		err := InCache(f)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.launches, err, tt.want)
		}
	}
}

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
