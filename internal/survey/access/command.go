package access

import (
	"flag"
	"fmt"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

const help = `Access measures what touching memory costs: reading, writing, multiplying and
dividing N elements of an array at a stride, in cache and off it, and how the
time divides into elements, cache lines and strides.

  taulop access [flags]

An array holds N·stride elements. In cache the same array is passed over again
and again; off cache passes walk through more memory than the caches hold.

Examples:
  taulop access                                      every operation on every type
  taulop access -ops read -types float64 -stride 1,2,4,8,16
  taulop access -size 32K,1M,64M -stride 1           arrays of these sizes
  taulop access -o access.json                       a parameter file with every sample
`

func flags(f *flag.FlagSet) func(*numa.Machine) (survey.Task, error) {
	var r Request
	var chosen passes
	argument.Var(f, &chosen.operations, "ops", strings.Join(Operations, ","), "`list` of operations on each element; "+Dot+", products with a vector in cache, is measured on request", argument.Among(AllOperations))
	argument.Var(f, &chosen.types, "types", strings.Join(Types, ","), "`list` of types of elements", argument.Among(Types))
	numbers := argument.Rising(argument.Sizes)
	argument.Var(f, &chosen.n, "n", "", "`list` of N, elements that a pass takes, like 1K,4K (default 1K,4K,16K)", numbers)
	argument.Var(f, &chosen.sizes, "size", "", "`list` of sizes of arrays in bytes, or with a unit, instead of -n: N is size/(stride·element)", numbers)
	argument.Var(f, &chosen.strides, "stride", "1,2,4,8,16,32", "`list` of strides, in elements", numbers)
	argument.Var(f, &r.Caches, "cache", "in,off", "arrays in cache or off cache, a `list`: in,off", argument.Caches)
	worker := survey.OnCPU(f)
	return func(m *numa.Machine) (t survey.Task, err error) {
		if r.Passes, err = chosen.all(); err != nil {
			return t, err
		}
		if r.Placement, t.Plan, err = worker(m); err != nil {
			return t, err
		}
		if t.Warnings, err = r.settle(m, setups.NeededCaches(m, r.Caches)); err != nil {
			return t, err
		}
		t.Request, t.Places = r, []numa.Placement{r.Placement}
		t.Plan.Caches, t.Plan.CacheBytes = r.Caches, m.LastLevelCacheBytes()
		w := r.Placement.Workers[0]
		where := fmt.Sprintf("one worker on CPU %d, its arrays on node %d", w.CPU.ID, w.UserNode)
		if r.ArenaBytes > 0 {
			where += fmt.Sprintf("; off cache each pass takes the next array of %d MB", r.ArenaBytes>>20)
		}
		t.About = []string{where, loopsName()}
		t.Tables = func(f *params.File) []view.Table { return append(Tables(f), fitTables(f.Cells, m.LineBytes())...) }
		t.Document = func(f *params.File) any { return newDocument(f, r.ArenaBytes, m.LineBytes()) }
		return t, nil
	}
}

// passes are chosen by flags.
type passes struct {
	operations, types []string
	n, sizes, strides []int
}

func (p passes) all() (all []Pass, err error) {
	if p.n != nil && p.sizes != nil {
		return nil, fmt.Errorf("-n and -size cannot be used together: choose one")
	}
	if p.n == nil {
		p.n = DefaultN
	}
	all = Grid(p.operations, p.types, p.n, p.strides)
	if p.sizes != nil {
		if all, err = Sized(p.operations, p.types, p.sizes, p.strides); err != nil {
			return nil, err
		}
	}
	for _, pass := range all {
		if err := pass.Check(); err != nil {
			return nil, err
		}
	}
	return all, nil
}
