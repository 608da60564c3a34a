package series

import (
	"fmt"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// A Regime is the rows whose buffers fit the same caches, and L(S,τ) of these rows.
type Regime struct {
	Level string       `json:"level"` // L2, L3 … that buffers fit; Memory: none; beyond L2: none known
	K     [2]int       `json:"k"`     // of the first row and the last
	Bytes [2]int       `json:"bytes"` // m, likewise
	L     fit.Estimate `json:"L_ns"`  // the mean over these k
}

// Memory is the level of rows that fit no cache.
const Memory = "memory"

// beyond begins the level of rows that fit no known cache, where an unknown third level may hold them.
const beyond = "beyond "

// Name is "in L2", "memory" or "beyond L2".
func (r Regime) Name() string {
	return printable.Either(r.Level == Memory || strings.HasPrefix(r.Level, beyond), r.Level, "in "+r.Level)
}

// Regimes divides rows by the smallest cache, from level 2 on, that holds the buffers of the workers
// that share it: each has a message, or off cache an arena, and an intermediate buffer. There are none
// without a known cache, or for null transfers.
func (r Request) Regimes(m *numa.Machine, rows []Row) (all []Regime) {
	caches := lists.Filter(m.Caches, func(c numa.Cache) bool { return c.Level > 1 && c.Type != "Instruction" && c.Bytes > 0 })
	levels := lists.Rising(lists.Map(caches, func(c numa.Cache) int { return c.Level }))
	if len(levels) == 0 || r.SegmentBytes == 0 {
		return nil
	}
	var Ls []fit.Estimate
	for _, row := range rows {
		level := Memory
		if last := levels[len(levels)-1]; last < 3 && r.ArenaBytes == 0 {
			level = fmt.Sprint(beyond, "L", last)
		}
		for _, l := range levels {
			if r.fits(m, l, max(row.Bytes, r.ArenaBytes)+r.Segments*r.SegmentBytes) {
				level = fmt.Sprint("L", l)
				break
			}
		}
		if n := len(all); n == 0 || all[n-1].Level != level {
			all, Ls = append(all, Regime{Level: level, K: [2]int{row.K}, Bytes: [2]int{row.Bytes}}), nil
		}
		Ls = append(Ls, row.Transfer)
		last := &all[len(all)-1]
		last.K[1], last.Bytes[1], last.L = row.K, row.Bytes, fit.Mean(Ls)
	}
	return all
}

// fits reports whether every worker has a cache of the level whose share of each worker holds the
// bytes.
func (r Request) fits(m *numa.Machine, level, bytes int) bool {
	workers := 0
	for c, sharers := range m.Shared(r.Placement.Workers) {
		if c.Level == level {
			if workers += sharers; bytes > c.Bytes/sharers {
				return false
			}
		}
	}
	return workers == len(r.Placement.Workers)
}
