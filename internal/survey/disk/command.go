package disk

import (
	"errors"
	"flag"
	"fmt"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

const help = `Disk measures what reading and writing a file in DIR costs: how long a transfer
takes to begin, and its bandwidth, past the page cache (O_DIRECT) and through it.

  taulop disk [flags] DIR

The file has no name, so that it is gone with the command, however that ends.
Writing past the page cache ends when the disk has the data, which it may keep in
a cache of its own; writing through it ends when memory has them.

Examples:
  taulop disk /scratch                          both
  taulop disk -cache out -m 4K,1M,16M .     past the page cache alone
  taulop disk -file 1G -o disk.json /scratch    a larger file; a parameter file with every sample
`

func flags(f *flag.FlagSet) func(*numa.Machine) (survey.Task, error) {
	var r Request
	argument.Var(f, &r.Sizes, "m", "4K,16K,64K,256K,1M,4M,16M", "sizes of a transfer in bytes, or with a unit, a `list` like 64K,1M with doubling ranges: 4K:1M", argument.Rising(argument.Sizes))
	argument.Var(f, &r.FileBytes, "file", "64M", "`size` of the file, one for each state of the page cache", argument.Bytes)
	argument.Var(f, &r.Modes, "cache", "out,in", "`list` of states of the file in the page cache: out, in", modes)
	worker := survey.OnCPU(f)
	return func(m *numa.Machine) (t survey.Task, err error) {
		if f.NArg() != 1 || f.Arg(0) == "" {
			return t, errors.New("name one directory, on the disk to measure: taulop disk DIR")
		}
		r.Dir = f.Arg(0)
		if err := r.Check(); err != nil {
			return t, err
		}
		if r.Placement, t.Plan, err = worker(m); err != nil {
			return t, err
		}
		if free, err := numa.FreeMemoryBytes("/"); err == nil && int64(r.FileBytes) > free/4 {
			return t, fmt.Errorf("-file is %d MB, and what it holds must fit into a quarter of the %d MB of memory that this process may take: use a smaller one", r.FileBytes>>20, free>>20)
		}
		if r, t.Warnings, err = r.Settle(); err != nil {
			return t, err
		}
		t.Request, t.Places = r, []numa.Placement{r.Placement}
		t.About = []string{fmt.Sprintf("%s, a file of %s without a name, one worker on CPU %d", r.Dir, view.Bytes(r.FileBytes), r.Placement.Workers[0].CPU.ID)}
		t.Document = func(f *params.File) any { return newDocument(f, r.Dir, r.FileBytes) }
		return t, nil
	}
}

func modes(list string) ([]Mode, error) {
	names, err := argument.Among([]string{"out", "in"})(list)
	return lists.Map(names, func(name string) Mode { return map[string]Mode{"out": Direct, "in": Cached}[name] }), err
}
