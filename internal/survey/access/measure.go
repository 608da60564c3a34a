package access

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// Survey is passes over arrays.
var Survey = survey.Register(&survey.Survey{
	Name: "access", Doc: "what touching memory costs: operation, type, stride, cache",
	Decode: survey.Decoder[Request],
	Plan: func(m *numa.Machine, p params.Plan) (survey.Request, error) {
		place, err := m.Place(numa.Local, 1)
		if err != nil {
			return nil, err
		}
		r := Request{Passes: Grid(Operations, Types, DefaultN, DefaultStrides), Caches: p.Caches, Placement: place}
		_, err = r.settle(m, cmp.Or(p.ArenaCaches, setups.ArenaCaches))
		return r, err
	},
	Command: &survey.Command{Help: help, Time: 30 * time.Second, Carries: true, Flags: flags},
	Answer:  Answer,
	Tables:  Tables,
	Drawing: &view.Drawing{
		Kind: params.AccessCell, Profiles: profiles,
		Name: "access", About: "an element of an array against the stride, a line for each operation", Example: "taulop plot access -cache off -o a.svg access.json",
		Title: "What it takes to touch an element of an array", What: "accesses", Measure: "taulop access",
		Order: slices.Concat(Types, AllOperations),
		Label: "Accesses",
	},
})

// A Request is passes of one worker.
type Request struct {
	Passes     []Pass         `json:"passes"`
	Caches     []bool         `json:"off_cache"`
	ArenaBytes int            `json:"arena_bytes"` // memory of off-cache passes
	Placement  numa.Placement `json:"placement"`
}

// Grid is all operations on all types for all n and strides.
func Grid(operations, types []string, n, strides []int) (passes []Pass) {
	for _, operation := range operations {
		for _, typ := range types {
			for _, stride := range strides {
				for _, n := range n {
					passes = append(passes, Pass{operation, typ, n, stride})
				}
			}
		}
	}
	return passes
}

// Sized is all operations on all types for all strides in arrays of these sizes in bytes. It fails if
// an array is too small for a stride.
func Sized(operations, types []string, sizes, strides []int) (passes []Pass, err error) {
	for _, typ := range types {
		element := ElementBytes[typ]
		for _, size := range sizes {
			if size < element {
				return nil, fmt.Errorf("an array of %d bytes is smaller than one %s: give it %d or more", size, typ, element)
			}
			for _, stride := range strides {
				n := size / element / stride
				if n < 1 {
					return nil, fmt.Errorf("stride %d is beyond an array of %d bytes, which holds %d elements of %s: use a smaller stride or a larger array", stride, size, size/element, typ)
				}
				for _, operation := range operations {
					passes = append(passes, Pass{operation, typ, n, stride})
				}
			}
		}
	}
	return lists.Unique(passes), nil
}

// Default numbers and strides, which determine all terms of eq. (4).
var (
	DefaultN       = []int{1 << 10, 1 << 12, 1 << 14}
	DefaultStrides = []int{1, 2, 4, 8, 16, 32}
)

// settle chooses the memory of off-cache passes by the memory that is free. The caches are those of
// setups.ArenaOf.
func (r *Request) settle(m *numa.Machine, caches float64) (warnings []error, err error) {
	free, err := numa.FreeMemoryBytes("/")
	if err == nil {
		r.ArenaBytes, warnings, err = arena(setups.ArenaOf(m, r.Placement, caches), m, r.Placement, r.Passes, r.Caches, free)
	}
	return warnings, err
}

// arena is the memory of off-cache passes: what is wanted, at most a quarter of free memory,
// and at least the largest array. It fails if the largest array exceeds the bound.
func arena(wanted int, m *numa.Machine, place numa.Placement, passes []Pass, caches []bool, free int64) (arena int, warnings []error, err error) {
	most := free / 4
	for _, node := range m.Nodes {
		if node.ID == place.Workers[0].UserNode && node.FreeBytes > 0 {
			most = min(most, node.FreeBytes*3/4)
		}
	}
	largest := slices.MaxFunc(passes, func(a, b Pass) int { return cmp.Compare(a.Bytes(), b.Bytes()) })
	if int64(largest.Bytes()) > most {
		return 0, nil, fmt.Errorf("%d elements of %s at stride %d are an array of %d MB, and this process may take %d MB: use fewer elements or a smaller stride",
			largest.N, largest.Type, largest.Stride, largest.Bytes()>>20, most>>20)
	}
	if !slices.Contains(caches, true) {
		return 0, nil, nil
	}
	arena = max(int(min(int64(wanted), most)), largest.Bytes())
	if partly := setups.Partly("passes", arena, wanted); partly != nil {
		warnings = append(warnings, partly)
	}
	return arena, warnings, nil
}

// Cells are all passes; off-cache passes of a type share an arena.
func (r Request) Cells(*numa.Machine) (cells []engine.Cell, warnings []error, err error) {
	for _, off := range r.Caches {
		for _, p := range r.Passes {
			c := engine.Cell{Cell: params.Cell{Key: params.Key{Kind: params.AccessCell, Placement: r.Placement.Policy, OffCache: off, Tau: 1,
				Bytes: p.Bytes(), Variant: p.Variant()}}}
			if off {
				c.Group = p.Type
			}
			cells = append(cells, c)
		}
	}
	return cells, nil, nil
}

// Open prepares sampling.
func (r Request) Open(b *engine.Bench) (engine.Sampler, error) { return engine.On(b, r.sample), nil }

func (r Request) sample(ctx context.Context, b *engine.Bench, k params.Key, hint float64) (engine.Reading, error) {
	p, ok := PassOf(k)
	if !ok {
		return engine.Reading{}, fmt.Errorf("%q is no pass over an array", k.VariantName())
	}
	work := p.work()
	if k.OffCache {
		b.Keep(r.Placement, "passes", int64(r.ArenaBytes))
		work.ArenaBytes = r.ArenaBytes
	}
	return b.Sample(ctx, r.Placement, work, 1, hint)
}
