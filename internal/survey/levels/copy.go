package levels

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// Survey is copies between levels of the memory.
var Survey = survey.Register(&survey.Survey{
	Name: "copy", Doc: "c(m,τ) between every two levels of the memory",
	Decode: survey.Decoder[Request],
	Plan: func(m *numa.Machine, p params.Plan) (survey.Request, error) {
		return NewRequest(m, Request{Sizes: CopySizes, Taus: Taus(m), ArenaCaches: p.ArenaCaches})
	},
	Command: &survey.Command{Help: help, Time: 20 * time.Second, Flags: flags},
	Answer:  Answer,
	Tables:  Tables,
	Doubts:  Doubts,
	Drawing: &view.Drawing{ // in the chart of other copies, too
		Kind: params.LevelCell, Profiles: view.ByCell(profiled),
		Title: "Cost of a copy while τ processes copy at once", Rate: "Bandwidth of τ processes that copy at once", What: "copies between levels of the memory", Measure: "taulop copy, or taulop sweep -with copy",
		Order: lines(), Own: func(p view.Profile) bool { from, to, _ := strings.Cut(p.Line, arrow); return from == to }, Few: true, OnePanel: true,
		Label: "Copies between levels of the memory",
	},
})

// lines are the names of a chart's lines, from the core outwards.
func lines() []string {
	return lists.Concat(Order, func(from string) []string {
		return lists.Map(Order, func(to string) string { return from + arrow + to })
	})
}

// A Request is c(m,τ) between levels of the memory.
type Request struct {
	Sizes  []int    `json:"sizes"`            // m, bytes, rising
	Taus   []int    `json:"taus"`             // rising
	Levels []string `json:"levels,omitempty"` // only between these; empty: all
	// ArenaCaches is the size of working sets in memory over the last cache; 0: setups.ArenaCaches.
	ArenaCaches float64 `json:"arena_caches,omitempty"`
	// Most and MostRemote bound the working sets in memory and remote memory of each end of a worker's
	// copies.
	Most       int `json:"most_bytes"`
	MostRemote int `json:"most_remote_bytes"`
}

// NewRequest chooses the bound on working sets.
func NewRequest(m *numa.Machine, r Request) (Request, error) {
	free, err := numa.FreeMemoryBytes("/")
	if err != nil {
		return r, err
	}
	largest, tau := r.Sizes[len(r.Sizes)-1], r.Taus[len(r.Taus)-1]
	if int64(largest) > free/64/int64(tau) {
		return r, fmt.Errorf("copies of %s by %s need more than the %d MB of memory that this process may take: choose smaller sizes or fewer τ", printable.Count(largest, "byte"), printable.Count(tau, "worker"), free>>20)
	}
	place, err := r.Place(m)
	if err != nil {
		return r, err
	}
	remote := slices.ContainsFunc(place.Workers, func(w numa.Worker) bool { return w.IntermediateNode != w.UserNode })
	all, ends := 0, make(map[int]int) // that stay mapped, by node
	for _, w := range place.Workers {
		all, ends[w.UserNode] = all+2, ends[w.UserNode]+2
		if remote {
			all, ends[w.IntermediateNode] = all+2, ends[w.IntermediateNode]+2
		}
	}
	r.Most, r.MostRemote = int(free/4)/all, int(free/4)/all
	for _, node := range m.Nodes {
		for _, w := range place.Workers {
			most := int(node.FreeBytes*3/4) / max(1, ends[node.ID])
			if w.UserNode == node.ID && most > 0 {
				r.Most = min(r.Most, most)
			}
			if w.IntermediateNode == node.ID && most > 0 {
				r.MostRemote = min(r.MostRemote, most)
			}
		}
	}
	return r, nil
}

// CopySizes are the default sizes.
var CopySizes = []int{64, 1 << 10, 4 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}

// Taus are the default τ: powers of two up to the number of cores.
func Taus(m *numa.Machine) []int { return survey.Doubling(m.Concurrency()) }

// Place is the placement: workers as in local, and the intermediate buffers of remote as the remote
// memory.
func (r Request) Place(m *numa.Machine) (numa.Placement, error) {
	return m.Place(numa.Remote, r.Taus[len(r.Taus)-1])
}

// Cells are one for each τ, size and two levels that hold it. Warnings name omissions.
func (r Request) Cells(m *numa.Machine) (cells []engine.Cell, warnings []error, err error) {
	place, err := r.Place(m)
	if err != nil {
		return nil, nil, err
	}
	largest := 0 // wanted working set in memory
	for _, tau := range r.Taus {
		levels, left := Levels(m, place, tau, r.ArenaCaches)
		warnings = append(warnings, left...)
		for _, from := range levels {
			for _, to := range levels {
				if len(r.Levels) > 0 && (!slices.Contains(r.Levels, from.Name) || !slices.Contains(r.Levels, to.Name)) {
					continue
				}
				for _, bytes := range r.Sizes {
					_, fits, wanted := r.between(tau, bytes, from, to)
					largest = max(largest, wanted)
					if !fits {
						continue
					}
					key := params.Key{Kind: params.LevelCell, Placement: numa.Local, Tau: tau, Bytes: bytes, Variant: way{from.Name, to.Name}}
					c := engine.Cell{Cell: params.Cell{Key: key}}
					if !from.cache() || !to.cache() { // gigabytes are mapped first
						c.Group = "memory"
					}
					cells = append(cells, c)
				}
			}
		}
	}
	if partly := setups.Partly("a worker's copies at each end", min(r.Most, r.MostRemote), largest); partly != nil {
		warnings = append(warnings, partly)
	}
	if len(cells) == 0 {
		return nil, warnings, fmt.Errorf("no level holds any of these sizes: choose smaller ones")
	}
	return cells, warnings, nil
}

// between is the copy of a cell, whether both levels hold it, and the wanted working set in memory if
// that exceeds its bound.
func (r Request) between(tau, bytes int, from, to Level) (b setups.Between, fits bool, wanted int) {
	b, fits = setups.Between{Tau: tau, Bytes: bytes}, true
	for room, l := range map[*setups.Room]Level{&b.From: from, &b.To: to} {
		n := l.walk(bytes)
		if !l.cache() {
			most := r.Most
			if l.Name == Remote {
				most = r.MostRemote
			}
			if n > most {
				wanted = max(wanted, n)
				n = max(most, 4*bytes)
			}
		}
		fits = fits && n > 0
		*room = setups.Room{Bytes: n, Memory: !l.cache(), Remote: l.Name == Remote}
	}
	return b, fits, wanted
}

// Open prepares sampling.
func (r Request) Open(b *engine.Bench) (engine.Sampler, error) { return engine.On(b, r.sample), nil }

func (r Request) sample(ctx context.Context, b *engine.Bench, k params.Key, hint float64) (engine.Reading, error) {
	place, err := r.Place(b.Machine)
	if err != nil {
		return engine.Reading{}, err
	}
	levels, _ := Levels(b.Machine, place, k.Tau, r.ArenaCaches)
	w, _ := k.Variant.(way)
	i := slices.IndexFunc(levels, func(l Level) bool { return l.Name == w[0] })
	j := slices.IndexFunc(levels, func(l Level) bool { return l.Name == w[1] })
	if i < 0 || j < 0 {
		return engine.Reading{}, fmt.Errorf("this machine has no levels %s", k.VariantName())
	}
	work, _, _ := r.between(k.Tau, k.Bytes, levels[i], levels[j])
	return b.Sample(ctx, place, work, 1, hint)
}

// Doubts name levels that are not slower than the level nearer to the core.
func Doubts(cells []params.Cell) (all []error) {
	for _, s := range Steps(cells) {
		if !s.Slower {
			all = append(all, fmt.Errorf("τ = %d, copies %s %s are not told apart from those %s %s (slower in %d of %d): the caches may be other than the system says, or prefetching may hide it",
				s.Tau, s.End, s.Far, s.End, s.Near, s.SlowerOf, s.Compared))
		}
	}
	return all
}

// Order is the levels from the core outwards.
var Order = []string{"L1", "L2", "L3", "L4", Memory, Remote}

// A way is the levels that a copy goes from and to, the variant of its cells: L2-memory.
type way [2]string

func (w way) String() string               { return w[0] + "-" + w[1] }
func (w way) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

func init() {
	params.ReadVariants(params.LevelCell, func(text string) params.Variant {
		from, to, _ := strings.Cut(text, "-")
		return way{from, to}
	})
}

// A point is a copy of a size by τ workers.
type point struct {
	way
	tau, bytes int
}

// pointsOf are the times of cells by point, and their τ and sizes.
func pointsOf(cells []params.Cell) (at map[point]fit.Estimate, taus, sizes []int) {
	at = make(map[point]fit.Estimate)
	for _, c := range cells {
		if w, ok := c.Variant.(way); ok {
			at[point{w, c.Tau, c.Bytes}] = c.Time
			taus, sizes = append(taus, c.Tau), append(sizes, c.Bytes)
		}
	}
	return at, lists.Rising(taus), lists.Rising(sizes)
}

// A Step compares copies with one end at a level and at the next one. The other end is nearer than
// the next level, or it would hide the difference.
type Step struct {
	Tau      int
	End      string // from or to
	Near     string
	Far      string
	Ratio    fit.Estimate // of times: the median over sizes and other ends
	Compared int          // copies
	SlowerOf int          // of these, beyond both intervals
	Slower   bool         // most of them
}

// Steps compare each level with the next one.
func Steps(cells []params.Cell) (steps []Step) {
	at, taus, _ := pointsOf(cells)
	found := make(map[string]bool)
	for p := range at {
		found[p.way[0]], found[p.way[1]] = true, true
	}
	levels := lists.Filter(Order, func(l string) bool { return found[l] })
	for _, tau := range taus {
		for end, name := range []string{"from", "to"} {
			for i := 1; i < len(levels); i++ {
				s := Step{Tau: tau, End: name, Near: levels[i-1], Far: levels[i]}
				var ratios []float64
				for p, near := range at {
					beyond := p
					beyond.way[end] = s.Far
					far, ok := at[beyond]
					if p.tau != tau || p.way[end] != s.Near || slices.Index(levels, p.way[1-end]) >= i || !ok || !near.Known() || !far.Known() {
						continue
					}
					ratios = append(ratios, far.Center/near.Center)
					if near.Differ(far) && far.Center > near.Center {
						s.SlowerOf++
					}
				}
				if s.Compared = len(ratios); s.Compared == 0 {
					continue
				}
				s.Ratio = fit.Median(ratios)
				s.Slower = 2*s.SlowerOf > s.Compared
				steps = append(steps, s)
			}
		}
	}
	return steps
}
