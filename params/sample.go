package params

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// A Sample is the result of one visit to a cell.
type Sample struct {
	NS     float64 `json:"ns,omitempty"`     // the visit's time, of the same quantity as Cell.Time
	Launch int32   `json:"-"`                // index into File.Launches; Unlaunched: unknown
	At     float32 `json:"at_s,omitempty"`   // s since the launch began
	Spread float32 `json:"spread,omitempty"` // relative standard deviation of the visit's batches
	Workers
	// Watch is the number, from 1, of the workers' watch in File.Watches; 0: there was no look. Before
	// and After are the looks just before and after the visit, ns: empty exchanges, which show where
	// the host had placed the CPUs. See Sorting.Of.
	Watch  int32   `json:"-"`
	Before float32 `json:"before_ns,omitempty"`
	After  float32 `json:"after_ns,omitempty"`
	// Computed is the time of a fixed set of sums on the slower of two workers, the longer of both looks,
	// in ns at 1 GHz, which are clock cycles; 0: unknown. It shows whether something slowed a core.
	Computed float32 `json:"computed_ns,omitempty"`
}

// Unlaunched is the Launch of imported samples, whose process and time are unknown.
const Unlaunched = -1

// A Launch is a process that measured.
type Launch struct {
	Session int     `json:"session"` // from 0; the launches of a session ran one after another
	Began   string  `json:"began"`   // RFC 3339
	Seconds float64 `json:"seconds"`
	Load    float64 `json:"load,omitempty"`  // load average of the last minute when it began
	Steal   float64 `json:"steal,omitempty"` // share of the CPUs' time that the hypervisor took
	Died    bool    `json:"died,omitempty"`  // before it was done
	Begun   Begun   `json:"begun,omitzero"`
	// MHz is the clock of the first worker's CPU by τ, the median just after visits; none if the
	// system does not report it.
	MHz map[int]float64 `json:"mhz,omitempty"`
	// Instruction is the time of one instruction of code like an MPI library's, ns: short functions
	// that call each other, lists and conditions, all in L1. 0: unknown.
	Instruction float64 `json:"instruction_ns,omitempty"`
	// FirstCPU is the CPU of the placements' first worker if launches take turns at L3 complexes or
	// nodes that are alike by topology, see File.FirstCPUs; else 0.
	FirstCPU int `json:"first_cpu,omitempty"`
	// Relative is, by placement, the median ratio of the launch's transfers to their cells' centres. It
	// is set only if launches take turns.
	Relative map[numa.Policy]float64 `json:"relative,omitempty"`
	// Loads tell whether user data off cache really was off cache; none if that cannot be measured.
	Loads []Loads `json:"loads,omitempty"`
	// Probe has readings of the same few cells at the beginning, middle and end of every launch. Their
	// differences are drift of the machine.
	Probe []ProbeReading `json:"probe,omitempty"`
}

// Loads are latencies of dependent reads of single cache lines in user buffers off cache, ns, each on
// another page than the one before: the mean over the buffers of a launch's workers.
type Loads struct {
	Placement numa.Policy `json:"placement"`
	Tau       int         `json:"tau"`        // workers
	Next      float64     `json:"next_ns"`    // lines that the next messages use
	Flushed   float64     `json:"flushed_ns"` // the same lines, flushed from all caches
	Cached    float64     `json:"cached_ns"`  // the same lines, just read
	Buffers   int         `json:"-"`          // number of buffers in the mean
}

// Add includes the reads of other buffers in the means.
func (l *Loads) Add(o Loads) {
	n, m := float64(l.Buffers), float64(o.Buffers)
	if n+m == 0 {
		return
	}
	l.Next, l.Flushed, l.Cached = (n*l.Next+m*o.Next)/(n+m), (n*l.Flushed+m*o.Flushed)/(n+m), (n*l.Cached+m*o.Cached)/(n+m)
	l.Buffers += o.Buffers
}

// Known reports whether reads of memory and of a cache differ. Under emulation they do not.
func (l Loads) Known() bool { return l.Cached > 0 && l.Flushed > 2*l.Cached }

// InCache is the share of the next messages' lines that is in a cache, 0 … 1.
func (l Loads) InCache() float64 { return min(max((l.Flushed-l.Next)/(l.Flushed-l.Cached), 0), 1) }

// Loads are the loads of each placement and τ, from the launch with the median share in cache. The
// largest share comes first.
func (f *File) Loads() (typical []Loads) {
	all := lists.Concat(f.Launches, func(l Launch) []Loads { return l.Loads })
	most := func(a, b Loads) int {
		return cmp.Or(cmp.Compare(b.InCache(), a.InCache()), cmp.Compare(a.Placement, b.Placement), a.Tau-b.Tau)
	}
	for _, loads := range lists.Groups(all, func(l Loads) Loads { return Loads{Placement: l.Placement, Tau: l.Tau} }) {
		slices.SortFunc(loads, most)
		typical = append(typical, loads[len(loads)/2])
	}
	slices.SortFunc(typical, most)
	return typical
}

// A ProbeReading is a time of a cell of the reference probe.
type ProbeReading struct {
	Key
	NS float64 `json:"ns"`
	At float32 `json:"at_s"`
}

// UnmarshalJSON reads all fields. The method of the embedded Key would read the key alone.
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

// Replicates are the samples by session and launch; several samples of a launch count as one, their
// median. Samples without a known launch count as launches of one session, so that their intervals do
// not cover differences between processes and hours.
func (c *Cell) Replicates(f *File) fit.Replicates {
	var r fit.Replicates
	c.byLaunch(f, func(launch int32, ns float64) {
		session := 0
		if launch != Unlaunched {
			session = f.Launches[launch].Session
		}
		r = with(r, session, ns)
	})
	return r
}

// byLaunch calls each with every launch that has samples and their median; with a sample without a known launch
// by itself.
func (c *Cell) byLaunch(f *File, each func(launch int32, ns float64)) {
	for i := 0; i < len(c.Samples); {
		launch, ns, end := c.Samples[i].Launch, c.Samples[i].NS, i+1
		if launch < 0 || int(launch) >= len(f.Launches) {
			launch = Unlaunched
		}
		for launch != Unlaunched && end < len(c.Samples) && c.Samples[end].Launch == launch {
			end++
		}
		if part := (&Cell{Samples: c.Samples[i:end]}); len(part.Samples) > 1 {
			ns = fit.Median(part.Values()).Center
		}
		each(launch, ns)
		i = end
	}
}

// with adds a value to a session.
func with(r fit.Replicates, session int, v float64) fit.Replicates {
	for session >= len(r) {
		r = append(r, nil)
	}
	r[session] = append(r[session], v)
	return r
}

// Paired are the ratios of one cell to another in launches that visited both: effects of a launch, or
// of an hour, on both cells cancel. Samples without a known launch are left out.
func Paired(f *File, numerator, denominator *Cell) (r fit.Replicates) {
	divisors := make(map[int32]float64) // by launch
	denominator.byLaunch(f, func(launch int32, ns float64) {
		if launch != Unlaunched && ns > 0 {
			divisors[launch] = ns
		}
	})
	numerator.byLaunch(f, func(launch int32, ns float64) {
		if divisor, both := divisors[launch]; both {
			r = with(r, f.Launches[launch].Session, ns/divisor)
		}
	})
	return r
}

// InSession counts the launches of a session that have samples of the cell.
func (c *Cell) InSession(f *File, session int) (n int) {
	if r := c.Replicates(f); session < len(r) {
		n = len(r[session])
	}
	return n
}

// Sessions is the number of sessions.
func (f *File) Sessions() int {
	return lists.Most(f.Launches, func(l Launch) int { return l.Session + 1 })
}

func (s Sample) check() error {
	if err := checkNs(s.NS); err != nil {
		return err
	}
	if s.Launch < Unlaunched || !(s.At >= 0 && s.At <= longest) || !(s.Spread >= 0 && s.Spread <= maxNs) {
		return fmt.Errorf("launch %d, %g s after its beginning, spread %g: want a launch of the file, and numbers from 0", s.Launch, s.At, s.Spread)
	}
	if s.Watch < 0 || !(s.Computed >= 0 && s.Computed <= maxNs) || s.Watch > 0 && !(s.Before > 0 && s.Before <= maxNs && s.After > 0 && s.After <= maxNs) {
		return fmt.Errorf("looks of watch %d took %g and %g ns, sums %g; want times above 0", s.Watch, s.Before, s.After, s.Computed)
	}
	return s.Workers.check()
}

// checkCell refuses a cell of a network, and samples of launches and watches, that the file does not have.
func (f *File) checkCell(c *Cell) error {
	for _, s := range c.Samples {
		if int(s.Watch) > len(f.Watches) {
			return fmt.Errorf("a sample is of watch %d and the file has %d", s.Watch, len(f.Watches))
		}
		if int(s.Launch) >= len(f.Launches) {
			return fmt.Errorf("a sample is of launch %d and the file has %d, counted from 0", s.Launch, len(f.Launches))
		}
	}
	name := c.Parameter().Of
	if c.Kind == NetCell && !slices.ContainsFunc(f.Networks, func(n Network) bool { return n.Name == name }) {
		return fmt.Errorf("there is no network %.40q among the file's networks", name)
	}
	return nil
}

// Check refuses a launch that Read would refuse.
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
		each(l.Loads, func(loads Loads) error {
			if loads.Tau < 1 || loads.Tau > maxWorkers || !loads.Known() {
				return fmt.Errorf("loads of placement %.40q, τ = %d: flushed_ns is %g and cached_ns %g; want flushed_ns above twice cached_ns", loads.Placement, loads.Tau, loads.Flushed, loads.Cached)
			}
			return cmp.Or(checkPolicy(loads.Placement), checkNs(loads.Next), checkNs(loads.Flushed), checkNs(loads.Cached))
		}),
		each(l.Probe, func(p ProbeReading) error {
			return cmp.Or(p.Key.check(), checkNs(p.NS), limited("at_s", float64(p.At), 0, longest))
		}))
}

// Samples are values in ns without a known launch.
func Samples(ns ...float64) []Sample {
	return lists.Map(ns, func(v float64) Sample { return Sample{NS: v, Launch: Unlaunched} })
}

// Widths are the relative half-widths of the cells' intervals, ascending.
func (f *File) Widths() (widths []float64) {
	widths = lists.Map(f.Cells, func(c Cell) float64 { return c.Time.Width() })
	slices.Sort(widths)
	return widths
}

// MHz is the clock of a worker's CPU by τ, the median over launches; none if the system does not
// report it.
func (f *File) MHz() map[int]float64 {
	all := make(map[int][]float64)
	for _, l := range f.Launches {
		for tau, mhz := range l.MHz {
			all[tau] = append(all[tau], mhz)
		}
	}
	medians := make(map[int]float64)
	for tau, mhz := range all {
		medians[tau] = fit.Median(mhz).Center
	}
	return medians
}

// Instruction is Launch.Instruction in seconds, the median over launches; 0 if not measured.
func (f *File) Instruction() float64 {
	counted := lists.Filter(f.Launches, func(l Launch) bool { return l.Instruction > 0 })
	if len(counted) == 0 {
		return 0
	}
	return fit.Median(lists.Map(counted, func(l Launch) float64 { return l.Instruction })).Center * 1e-9
}

// Components are the components of the samples' variation as relative standard deviations, each the
// median over cells; NaN: unknown. Within is the variation between batches of one visit.
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
		parts := lists.Map(states.stays(c), func(s stay) fit.Replicates { return s.replicates(f) })
		if len(parts) == 0 { // its workers had one state
			parts = []fit.Replicates{c.Replicates(f)}
		}
		for _, part := range parts {
			variation := part.Components()
			if !math.IsNaN(variation.Launches) && len(f.Launches) > 0 {
				ls = append(ls, variation.Launches)
			}
			if !math.IsNaN(variation.Sessions) {
				ss = append(ss, variation.Sessions)
			}
		}
	}
	return fit.Median(ws).Center, fit.Median(ls).Center, fit.Median(ss).Center
}

// Workers compares the workers of a visit by their median times over batches, relative to the slowest
// worker's. If all are slowed alike, all are near 1.
type Workers struct {
	Fastest float32 `json:"fastest,omitempty"` // 0: one worker, or unknown
	Typical float32 `json:"typical,omitempty"` // the median of all but the slowest
	Last    int32   `json:"last,omitempty"`    // CPU of the slowest
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

// A Balance is the workers' times relative to the slowest worker's, the median over visits.
type Balance struct {
	Fastest float64 `json:"fastest"`
	Typical float64 `json:"typical"` // the median of all but the slowest
}

// Balance is the balance in cells of a kind; nil if no sample has the times of several workers.
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

// Begun counts batches and those with start skew.
type Begun struct {
	Batches int `json:"batches"`          // all that were timed
	Late    int `json:"late,omitempty"`   // batches in which a worker began late; they are measured again
	Forced  int `json:"forced,omitempty"` // late ones that count, because all of their visit were late
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

// String says how many batches were late and whether they count; "" if none was late.
func (s Begun) String() string {
	switch {
	case s.Late == 0:
		return ""
	case s.Forced == 0:
		were := printable.Either(s.Late == 1, "was", "were")
		return fmt.Sprintf("%d of %d batches %s measured again, because a worker began late", s.Late, s.Batches, were)
	}
	return fmt.Sprintf("in %d of %d batches a worker began late: %d count nonetheless, the others were measured again", s.Late, s.Batches, s.Forced)
}
