package doubt

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Carried is the highest bandwidth of main memory under some load, beside its peak.
type Carried struct {
	What    string       `json:"what"` // the load: reads, copies of 1048576 bytes
	Workers int          `json:"workers"`
	Nodes   int          `json:"nodes"` // NUMA nodes with the workers' buffers
	Rate    fit.Estimate `json:"gb_s"`  // bytes read and written, 10⁹ a second
	// Fetched is Rate with write-allocate, as most processors do: a copy moves three bytes for each
	// copied one, not two. For reads it is Rate.
	Fetched fit.Estimate `json:"fetched_gb_s"`
	Full    bool         `json:"full"`            // twice the load carried less than a fifth more
	Peak    float64      `json:"peak_gb_s"`       // 0: unknown
	Share   float64      `json:"share,omitempty"` // Rate over Peak

	memory *params.Memory
}

// LeastShare is the share of the peak below which memory gets a warning: copies and reads of
// well-equipped servers reach 75 to 90 %.
const LeastShare = 0.7

// leastCarried is the least size of copies in bytes that counts: caches keep little of it.
const leastCarried = 1 << 20

// ErrLook is the advice for memory with a low bandwidth.
var ErrLook = errors.New("memory slots and clock are worth a look (dmidecode -t memory)")

// Memory is the highest bandwidths of reads under load, of copies off cache, and of passes of one worker,
// as far as f has these. Whether more workers would carry more follows from curves, which is f or another
// file of the same machine.
func Memory(f, curves *params.File) (all []Carried) {
	for _, c := range []*Carried{loaded(f), copied(f, curves), passed(f)} {
		if c != nil {
			if c.memory = f.Provenance.Memory; c.memory != nil {
				c.Peak = c.memory.PeakGBs
			}
			if c.Peak > 0 {
				c.Share = c.Rate.Center / c.Peak
			}
			all = append(all, *c)
		}
	}
	return all
}

// BestCarried is the Carried with the largest share of a known peak, nil without one.
func BestCarried(f, curves *params.File) (best *Carried) {
	for _, c := range Memory(f, curves) {
		if c.Peak > 0 && (best == nil || c.Share > best.Share) {
			best = &c
		}
	}
	return best
}

// most is the off-cache cell with the highest rate, in GB/s; nil without any. Cells of 0 bytes do not
// count.
func most(f *params.File, bytes func(*params.Cell) (perTime float64)) (best *params.Cell, rate fit.Estimate) {
	for i := range f.Cells {
		c := &f.Cells[i]
		if n := bytes(c); n > 0 && c.OffCache && c.Time.Center > 0 {
			if r := c.Time.Rate(n); best == nil || r.Center > rate.Center {
				best, rate = c, r
			}
		}
	}
	return best, rate
}

// loaded has the reads of workers that load memory, at any level, while another worker times a read.
func loaded(f *params.File) *Carried {
	const line = 64
	c, rate := most(f, func(c *params.Cell) float64 {
		if load, _ := c.Variant.(params.Load); load.What != params.LoadedRead || !load.Rate {
			return 0
		}
		return line
	})
	if c == nil {
		return nil
	}
	latency := func(level int) fit.Estimate {
		k := c.Key
		k.Variant = params.Load{What: params.LoadedRead, Level: level}
		if i := slices.IndexFunc(f.Cells, func(o params.Cell) bool { return o.Key == k }); i >= 0 {
			return f.Cells[i].Time
		}
		return fit.Median(nil)
	}
	return &Carried{What: "reads", Workers: c.Tau - 1, Nodes: nodes(f, c.Placement, 1, c.Tau), Rate: rate, Fetched: rate,
		Full: latency(100).Div(latency(0)).Lo >= 2}
}

// copied has workers' copies between their own buffers.
func copied(f, curves *params.File) *Carried {
	moved := func(c *params.Cell) float64 {
		if c.Kind != params.OwnCell || c.Bytes < leastCarried || c.Transport != params.InSegments {
			return 0
		}
		return float64(2 * c.Bytes * c.Tau)
	}
	c, rate := most(f, moved)
	if c == nil {
		return nil
	}
	// A placement fills one node after the other, so saturation shows in bandwidth over workers per node.
	type perNode struct{ workers, rate float64 }
	var points []perNode
	var last perNode // the most workers, and the highest rate
	for i := range curves.Cells {
		if o := &curves.Cells[i]; o.Placement == c.Placement && o.Bytes == c.Bytes && o.OffCache && moved(o) > 0 && o.Time.Center > 0 {
			n := float64(nodes(curves, o.Placement, 0, o.Tau))
			p := perNode{float64(o.Tau) / n, moved(o) / o.Time.Center / n}
			points, last = append(points, p), perNode{max(last.workers, p.workers), max(last.rate, p.rate)}
		}
	}
	full := slices.ContainsFunc(points, func(p perNode) bool { return 2*p.workers <= last.workers && last.rate <= 1.2*p.rate })
	return &Carried{What: fmt.Sprintf("copies of %d bytes", c.Bytes), Workers: c.Tau, Nodes: nodes(f, c.Placement, 0, c.Tau), Rate: rate, Fetched: rate.Scale(1.5), Full: full}
}

// passed has one worker's reads in passes over an array, element by element.
func passed(f *params.File) *Carried {
	c, rate := most(f, func(c *params.Cell) float64 {
		if a, _ := c.Variant.(params.Access); a.Operation != "read" || a.Stride != 1 {
			return 0
		}
		return float64(c.Bytes)
	})
	if c == nil {
		return nil
	}
	return &Carried{What: fmt.Sprintf("reads of %d bytes", c.Bytes), Workers: 1, Nodes: 1, Rate: rate, Fetched: rate}
}

// nodes is the number of NUMA nodes with user buffers of workers first to tau-1 of a placement, 1 if
// unknown.
func nodes(f *params.File, policy numa.Policy, first, tau int) int {
	used := make(map[int]bool)
	for _, p := range f.Placements {
		if p.Policy == policy {
			for i := first; i < min(tau, len(p.Workers)); i++ {
				used[p.Workers[i].UserNode] = true
			}
		}
	}
	return max(1, len(used))
}

// String is a phrase: 37.2 GB/s at the most (reads, 7 workers), 54 % of the 68.3 GB/s given.
func (c Carried) String() string {
	text := fmt.Sprintf("%.3g GB/s at the most (%s, %s)", c.Rate.Center, c.What, printable.Count(c.Workers, "worker"))
	if c.Peak == 0 {
		return text
	}
	text += ", " + c.share()
	switch {
	case !c.everywhere():
		text += fmt.Sprintf("; on %d of %d NUMA nodes", c.Nodes, c.memory.Nodes)
	case !c.Full:
		text += "; more workers may carry more"
	}
	return text
}

// share is the share of the peak and the peak's source.
func (c Carried) share() string {
	text := fmt.Sprintf("%.0f %%", 100*c.Share)
	if c.Fetched.Center > c.Rate.Center {
		text += fmt.Sprintf(" (%.0f %% if lines are read before they are written)", 100*c.Fetched.Center/c.Peak)
	}
	source := printable.Either(c.memory.Given, "given", "of its modules")
	return fmt.Sprintf("%s of the %g GB/s %s", text, math.Round(10*c.Peak)/10, source)
}

// everywhere tells whether all nodes carried load.
func (c Carried) everywhere() bool { return c.memory == nil || c.Nodes >= c.memory.Nodes }

// Low is a warning if saturated memory carried less than LeastShare of its peak, beyond the interval.
func (c Carried) Low() error {
	if c.Peak == 0 || !c.Full || !c.everywhere() || !c.Rate.Known() || c.Fetched.Hi >= LeastShare*c.Peak {
		return nil
	}
	modules := c.memory.String()
	if modules != "" {
		modules = "; the firmware lists " + modules
	}
	return fmt.Errorf("memory carried %.3g GB/s at the most (%s), %s%s: %w", c.Rate.Center, c.What, c.share(), modules, ErrLook)
}

// High is a warning if memory carried more than its peak, beyond the interval.
func (c Carried) High() error {
	if c.Peak == 0 || !c.Rate.Known() || c.Rate.Lo <= c.Peak {
		return nil
	}
	return fmt.Errorf("memory carried %.3g GB/s (%s), more than the peak of %g GB/s: give channels × MT/s × 8 / 1000 of the whole machine, or the caches had a part", c.Rate.Center, c.What, c.Peak)
}

// OfMemory are warnings about a machine's memory, or about the peak in its file.
func OfMemory(f *params.File) []error {
	return some(lists.Map(Memory(f, f), func(c Carried) error { return cmp.Or(c.Low(), c.High()) })...)
}
