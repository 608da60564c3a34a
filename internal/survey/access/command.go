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

Flags:
`

func flags(f *flag.FlagSet) func(*numa.Machine) (survey.Task, error) {
	ops := f.String("ops", strings.Join(Operations, ","), "`list` of what is done to each element; "+Dot+", products with a vector in cache, is measured where it is asked for")
	types := f.String("types", strings.Join(Types, ","), "`list` of types of elements")
	n := f.String("n", "", "`list` of N, elements that a pass takes, like 1K,4K (default 1K,4K,16K)")
	sizes := f.String("size", "", "`list` of sizes of arrays in bytes, or with a unit, instead of -n: N is size/(stride·element)")
	strides := f.String("stride", "1,2,4,8,16,32", "`list` of strides, in elements")
	caches := f.String("cache", "in,off", "`list` of where arrays are: in, off")
	worker := survey.OnCPU(f)
	return func(m *numa.Machine) (t survey.Task, err error) {
		var r Request
		if r.Caches, err = argument.Caches("-cache", *caches); err != nil {
			return t, err
		}
		if r.Passes, err = passes(*ops, *types, *n, *sizes, *strides); err != nil {
			return t, err
		}
		if r.Placement, t.Plan, err = worker(m); err != nil {
			return t, err
		}
		free, err := numa.FreeMemoryBytes("/")
		if err != nil {
			return t, err
		}
		if r.ArenaBytes, t.Warnings, err = Arena(m, r.Placement, r.Passes, r.Caches, free); err != nil {
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

// passes reads the flags that choose them.
func passes(ops, types, n, sizes, strides string) (all []Pass, err error) {
	if n != "" && sizes != "" {
		return nil, fmt.Errorf("-n and -size cannot be used together: choose one")
	}
	numbers := DefaultN
	over, err := argument.Numbers("-stride", strides, argument.Bytes)
	if err != nil {
		return nil, err
	}
	operations, err := argument.Among("-ops", ops, AllOperations)
	if err != nil {
		return nil, err
	}
	of, err := argument.Among("-types", types, Types)
	if err != nil {
		return nil, err
	}
	if n != "" {
		if numbers, err = argument.Numbers("-n", n, argument.Bytes); err != nil {
			return nil, err
		}
	}
	all = Grid(operations, of, numbers, over)
	if sizes != "" {
		bytes, err := argument.Numbers("-size", sizes, argument.Bytes)
		if err != nil {
			return nil, err
		}
		if all, err = Sized(operations, of, bytes, over); err != nil {
			return nil, err
		}
	}
	for _, p := range all {
		if err := p.Check(); err != nil {
			return nil, err
		}
	}
	return all, nil
}
