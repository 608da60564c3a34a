package params

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
)

// A Sample is what one visit of a cell found.
type Sample struct {
	NS     float64 `json:"ns,omitempty"`     // as the cell's time
	Launch int32   `json:"-"`                // index of the file's launches; Unlaunched: unknown
	At     float32 `json:"at_s,omitempty"`   // s since the launch began
	Spread float32 `json:"spread,omitempty"` // relative standard deviation of the visit's batches
	Workers
	// Watch is the number, from 1, of the file's watch of the workers, whose looks just before and
	// just after took Before and After ns: an empty exchange, which tells where the host had put the
	// CPUs. 0: no look. See Sorting.Of.
	Watch  int32   `json:"-"`
	Before float32 `json:"before_ns,omitempty"`
	After  float32 `json:"after_ns,omitempty"`
	// Computed is the longest that some sums took the slower of two workers in these looks, ns at a clock
	// of 1 GHz: clock cycles; 0: unknown. It tells when something slowed a core.
	Computed float32 `json:"computed_ns,omitempty"`
}

// Unlaunched samples were imported: nothing says in which process and at what moment they were taken.
const Unlaunched = -1

// A Launch is a process that measured.
type Launch struct {
	Session int     `json:"session"` // from 0: launches of one are of the same hour
	Began   string  `json:"began"`   // RFC 3339
	Seconds float64 `json:"seconds"`
	Load    float64 `json:"load,omitempty"`  // average of the last minute when it began
	Steal   float64 `json:"steal,omitempty"` // share of the CPUs' time that the hypervisor took
	Died    bool    `json:"died,omitempty"`  // before it was done
	Begun   Begun   `json:"begun,omitzero"`
	// MHz is the clock of the first worker's CPU by τ, the median just after visits,
	// where the system says it.
	MHz map[int]float64 `json:"mhz,omitempty"`
	// Instruction is the time of one instruction of code like an MPI library's, ns: short functions
	// that call each other, lists and conditions, all in the first cache. 0: unknown.
	Instruction float64 `json:"instruction_ns,omitempty"`
	// FirstCPU is the CPU of placements' first worker where launches take turns at L3 complexes or
	// nodes that are alike by topology, see File.FirstCPUs; else 0.
	FirstCPU int `json:"first_cpu,omitempty"`
	// Relative has by placement what the launch's transfers took, as a multiple of their
	// cells' centres: the median over them. Only where launches take turns.
	Relative map[numa.Policy]float64 `json:"relative,omitempty"`
	// Loads say of each placement and τ whether user data off cache was; of none where that
	// cannot be told.
	Loads []Loads `json:"loads,omitempty"`
	// Probe has the same few cells in every launch, at its beginning, middle and
	// end: what they differ by is drift of the machine.
	Probe []ProbeReading `json:"probe,omitempty"`
}

// Loads are what reads of single lines of user buffers off cache take, ns, each of which waits for the
// one before and goes to another page: the mean over the buffers of a launch's workers.
type Loads struct {
	Placement numa.Policy `json:"placement"`
	Tau       int         `json:"tau"`        // workers
	Next      float64     `json:"next_ns"`    // of what messages come to next
	Flushed   float64     `json:"flushed_ns"` // of the same lines, taken out of all caches
	Cached    float64     `json:"cached_ns"`  // and just read
	Buffers   int         `json:"-"`          // that these are the mean of, while it is measured
}

// Add averages in the reads of other buffers.
func (l *Loads) Add(o Loads) {
	n, m := float64(l.Buffers), float64(o.Buffers)
	if n+m == 0 {
		return
	}
	l.Next, l.Flushed, l.Cached = (n*l.Next+m*o.Next)/(n+m), (n*l.Flushed+m*o.Flushed)/(n+m), (n*l.Cached+m*o.Cached)/(n+m)
	l.Buffers += o.Buffers
}

// Known tells whether reads of memory and of a cache differ. Under emulation they do not.
func (l Loads) Known() bool { return l.Cached > 0 && l.Flushed > 2*l.Cached }

// InCache is the share of what messages come to next that is in a cache, 0 … 1.
func (l Loads) InCache() float64 {
	return min(max((l.Flushed-l.Next)/(l.Flushed-l.Cached), 0), 1)
}

// Loads are the loads of each placement and τ, of the median launch by the share in cache, the
// largest share first.
func (f *File) Loads() (typical []Loads) {
	type key struct {
		placement numa.Policy
		tau       int
	}
	all := make(map[key][]Loads)
	for _, launch := range f.Launches {
		for _, l := range launch.Loads {
			k := key{l.Placement, l.Tau}
			all[k] = append(all[k], l)
		}
	}
	most := func(a, b Loads) int {
		return cmp.Or(cmp.Compare(b.InCache(), a.InCache()), cmp.Compare(a.Placement, b.Placement), a.Tau-b.Tau)
	}
	for _, of := range all {
		slices.SortFunc(of, most)
		typical = append(typical, of[len(of)/2])
	}
	slices.SortFunc(typical, most)
	return typical
}

// A ProbeReading is one of a cell of the reference probe.
type ProbeReading struct {
	Key
	NS float64 `json:"ns"`
	At float32 `json:"at_s"`
}

// UnmarshalJSON reads all fields, not the key's alone.
func (p *ProbeReading) UnmarshalJSON(text []byte) error {
	value := struct {
		NS *float64 `json:"ns"`
		At *float32 `json:"at_s"`
	}{&p.NS, &p.At}
	return errors.Join(json.Unmarshal(text, &p.Key), json.Unmarshal(text, &value))
}

// Values are the samples' times in ns, in the order in which they were taken.
func (c *Cell) Values() (ns []float64) {
	return lists.Map(c.Samples, func(s Sample) float64 { return s.NS })
}

// Replicates are the samples by session and launch; several of a launch count as one, their median.
// Samples without a known launch count as launches of one session: their intervals say how well one
// process knew one minute.
func (c *Cell) Replicates(f *File) fit.Replicates {
	var r fit.Replicates
	for launch, ns := range c.byLaunch(f) {
		session := 0
		if launch != Unlaunched {
			session = f.Launches[launch].Session
		}
		r = with(r, session, ns)
	}
	return r
}

// byLaunch are the launches with samples and their medians; a sample without a known launch is by
// itself.
func (c *Cell) byLaunch(f *File) iter.Seq2[int32, float64] {
	return func(yield func(launch int32, ns float64) bool) {
		for i := 0; i < len(c.Samples); {
			launch, ns, end := c.Samples[i].Launch, 0., i+1
			if launch < 0 || int(launch) >= len(f.Launches) {
				launch = Unlaunched
			}
			for launch != Unlaunched && end < len(c.Samples) && c.Samples[end].Launch == launch {
				end++
			}
			of := Cell{Samples: c.Samples[i:end]}
			if ns, i = of.Samples[0].NS, end; len(of.Samples) > 1 {
				ns = fit.Median(of.Values()).Center
			}
			if !yield(launch, ns) {
				return
			}
		}
	}
}

func with(r fit.Replicates, session int, v float64) fit.Replicates {
	for session >= len(r) {
		r = append(r, nil)
	}
	r[session] = append(r[session], v)
	return r
}

// Paired are ratios of one cell to another, of launches that visited both: what a launch, or an
// hour, does to both alike cancels. Samples without a known launch make none.
func Paired(f *File, of, to *Cell) (r fit.Replicates) {
	at := make(map[int32]float64)
	for launch, ns := range to.byLaunch(f) {
		if launch != Unlaunched && ns > 0 {
			at[launch] = ns
		}
	}
	for launch, ns := range of.byLaunch(f) {
		if one, both := at[launch]; both {
			r = with(r, f.Launches[launch].Session, ns/one)
		}
	}
	return r
}

// InSession counts the samples that a session has.
func (c *Cell) InSession(f *File, session int) (n int) {
	if r := c.Replicates(f); session < len(r) {
		n = len(r[session])
	}
	return n
}

// Sessions are how many the file has.
func (f *File) Sessions() (n int) {
	for _, l := range f.Launches {
		n = max(n, l.Session+1)
	}
	return n
}

func (s Sample) check() error {
	if err := checkNs(s.NS); err != nil {
		return err
	}
	if s.Launch < Unlaunched || !(s.At >= 0 && s.At <= longest) || !(s.Spread >= 0 && s.Spread <= maxNs) {
		return fmt.Errorf("launch %d, %g s after its beginning, spread %g: want a launch of the file and no number below 0", s.Launch, s.At, s.Spread)
	}
	if s.Watch < 0 || !(s.Computed >= 0 && s.Computed <= maxNs) || s.Watch > 0 && !(s.Before > 0 && s.Before <= maxNs && s.After > 0 && s.After <= maxNs) {
		return fmt.Errorf("looks of watch %d took %g and %g ns, sums %g; want times above 0", s.Watch, s.Before, s.After, s.Computed)
	}
	return s.Workers.check()
}

// checkLaunches refuses samples of launches and watches that the file does not have.
func (c *Cell) checkLaunches(launches, watches int) error {
	for _, s := range c.Samples {
		if int(s.Watch) > watches {
			return fmt.Errorf("a sample is of watch %d and the file has %d", s.Watch, watches)
		}
		if int(s.Launch) >= launches {
			return fmt.Errorf("a sample is of launch %d and the file has %d, counted from 0", s.Launch, launches)
		}
	}
	return nil
}

// Check refuses a launch that no file holds.
func (l *Launch) Check() error {
	if _, err := time.Parse(time.RFC3339Nano, l.Began); err != nil {
		return fmt.Errorf("began is %.40q; want a moment like 2026-11-21T20:15:00Z", l.Began)
	}
	for policy, v := range l.Relative {
		if err := cmp.Or(checkPolicy(policy), limited("relative", v, 0, maxNs)); err != nil {
			return err
		}
	}
	for tau, mhz := range l.MHz {
		if tau < 0 || tau > maxCount || !(mhz > 0 && mhz <= 1e6) {
			return fmt.Errorf("mhz: %g at τ = %d is no clock", mhz, tau)
		}
	}
	if s := l.Begun; s.Batches < 0 || s.Late < 0 || s.Late > s.Batches || s.Forced < 0 || s.Forced > s.Late {
		return fmt.Errorf("begun: %d of %d batches late, %d of them counted", s.Late, s.Batches, s.Forced)
	}
	return cmp.Or(limited("session", l.Session, 0, maxLaunches-1), limited("seconds", l.Seconds, 0, longest), limited("load", l.Load, 0, longest), limited("steal", l.Steal, 0, longest),
		limited("first_cpu", l.FirstCPU, 0, maxCPUs), checkNs(l.Instruction),
		limited("number of loads or readings of the probe", max(len(l.Loads), len(l.Probe)), 0, maxProbes),
		each(l.Loads, func(of Loads) error {
			if of.Tau < 1 || of.Tau > maxWorkers || !of.Known() {
				return fmt.Errorf("loads of placement %.40q, τ = %d: flushed_ns is %g and cached_ns %g; want it twice as long", of.Placement, of.Tau, of.Flushed, of.Cached)
			}
			return cmp.Or(checkPolicy(of.Placement), checkNs(of.Next), checkNs(of.Flushed), checkNs(of.Cached))
		}),
		each(l.Probe, func(p ProbeReading) error {
			return cmp.Or(p.Key.check(), checkNs(p.NS), limited("at_s", float64(p.At), 0, longest))
		}))
}

// Samples are values in ns without a known launch.
func Samples(ns ...float64) []Sample {
	of := lists.Map(ns, func(v float64) Sample { return Sample{NS: v, Launch: Unlaunched} })
	return of
}

// Widths are the relative half-widths of the cells' intervals, rising.
func (f *File) Widths() (widths []float64) {
	widths = lists.Map(f.Cells, func(c Cell) float64 { return c.Time.Width() })
	slices.Sort(widths)
	return widths
}

// MHz is the clock of a worker's CPU by τ, the median over launches; none where the
// system does not say it.
func (f *File) MHz() map[int]float64 {
	of := make(map[int][]float64)
	for _, l := range f.Launches {
		for tau, mhz := range l.MHz {
			of[tau] = append(of[tau], mhz)
		}
	}
	clocks := make(map[int]float64)
	for tau, mhz := range of {
		clocks[tau] = fit.Median(mhz).Center
	}
	return clocks
}

// Instruction is the time of an instruction of code like an MPI library's, in seconds, the median
// over launches; 0 if not measured.
func (f *File) Instruction() float64 {
	var of []float64
	for _, l := range f.Launches {
		if l.Instruction > 0 {
			of = append(of, l.Instruction)
		}
	}
	if len(of) == 0 {
		return 0
	}
	return fit.Median(of).Center * 1e-9
}

// Components are what samples differ by, the median over cells, as relative standard
// deviations; NaN where nothing is known. Within is of batches of one visit.
func (f *File) Components() (within, launches, sessions float64) {
	var ws, ls, ss []float64
	states := f.Sort()
	for i := range f.Cells {
		c := &f.Cells[i]
		for _, s := range c.Samples {
			if s.Launch != Unlaunched {
				ws = append(ws, float64(s.Spread))
			}
		}
		for _, in := range states.Each(c) {
			of := in.Replicates(f).Components()
			if !math.IsNaN(of.Launches) && len(f.Launches) > 0 {
				ls = append(ls, of.Launches)
			}
			if !math.IsNaN(of.Sessions) {
				ss = append(ss, of.Sessions)
			}
		}
	}
	return fit.Median(ws).Center, fit.Median(ls).Center, fit.Median(ss).Center
}

// Workers compares the workers of a visit: each one's median time over its batches, over the
// slowest one's. Where all are slow together, all are near 1.
type Workers struct {
	Fastest float32 `json:"fastest,omitempty"` // 0: one worker, or unknown
	Typical float32 `json:"typical,omitempty"` // the median of all but the last
	Last    int32   `json:"last,omitempty"`    // CPU of the last
}

func (w Workers) check() error {
	if w == (Workers{}) {
		return nil
	}
	if !(w.Fastest > 0 && w.Fastest <= w.Typical && w.Typical <= 1) || w.Last < 0 || w.Last > maxCPUs {
		return fmt.Errorf("of several workers the fastest took %g of the last one's time, the median of the others %g, on CPU %d: want shares that rise to 1 and a CPU up to %d", w.Fastest, w.Typical, w.Last, maxCPUs)
	}
	return nil
}

// A Balance is what workers took by themselves, over what the last of them took, the
// median over visits.
type Balance struct {
	Fastest float64 `json:"fastest"`
	Typical float64 `json:"typical"` // the median of all but the last
}

// Balance is the balance of a kind of cells, nil where no sample says it.
func (f *File) Balance(kind Kind) *Balance {
	var fastest, typical []float64
	for _, c := range f.Cells {
		for _, s := range c.Samples {
			if c.Kind == kind && s.Fastest > 0 {
				fastest, typical = append(fastest, float64(s.Fastest)), append(typical, float64(s.Typical))
			}
		}
	}
	if len(fastest) == 0 {
		return nil
	}
	return &Balance{fit.Median(fastest).Center, fit.Median(typical).Center}
}

// Begun are how many batches began together, and how many did not.
type Begun struct {
	Batches int `json:"batches"`          // all that were timed
	Late    int `json:"late,omitempty"`   // that a worker began late; others were measured in their place
	Forced  int `json:"forced,omitempty"` // late ones that count, because none of their visit began together
}

// Add adds the batches of a visit.
func (s *Begun) Add(o Begun) {
	s.Batches, s.Late, s.Forced = s.Batches+o.Batches, s.Late+o.Late, s.Forced+o.Forced
}

// Begun are the batches of all launches.
func (f *File) Begun() (all Begun) {
	for _, l := range f.Launches {
		all.Add(l.Begun)
	}
	return all
}

// String says what became of batches that did not begin together, nothing where all did.
func (s Begun) String() string {
	switch {
	case s.Late == 0:
		return ""
	case s.Forced == 0:
		were := "were"
		if s.Late == 1 {
			were = "was"
		}
		return fmt.Sprintf("%d of %d batches %s measured again, because a worker began late", s.Late, s.Batches, were)
	}
	return fmt.Sprintf("in %d of %d batches a worker began late: %d count nonetheless, the others were measured again", s.Late, s.Batches, s.Forced)
}
