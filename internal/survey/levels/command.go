package levels

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

const help = `Copy measures c(m,τ), a copy of m bytes while τ run at once, between every two
levels of the memory: the caches, the worker's own memory and that of the node
farthest away.

  taulop copy [flags]

Data are in a level because copies walk through more than the level before holds
and less than this one does; whether they are shows in the times, which are
compared. Tam's M_ctc, M_ctm and M_mtm are rows of it.

Examples:
  taulop copy                          all levels, in half a minute
  taulop copy -tau 1 -levels L2,memory -m 1K:256K
  taulop copy -o copy.json             a parameter file, for taulop plot copy
`

func flags(f *flag.FlagSet) func(*numa.Machine) (survey.Task, error) {
	r := Request{Sizes: CopySizes}
	argument.Var(f, &r.Taus, "tau", "", "τ, a `list` like 1,2,4 with ranges: 2-8, or doubling 1:16 (default doubling to the number of cores)", argument.Rising(argument.Taus))
	argument.Var(f, &r.Sizes, "m", "", "sizes of copies in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M (default 64 B to 4 MB, eight of them)", argument.Rising(argument.Sizes))
	argument.Var(f, &r.Levels, "levels", "", "only between these, a `list` of "+strings.Join(Order, ", "), argument.Names)
	return func(m *numa.Machine) (t survey.Task, err error) {
		if len(r.Taus) == 0 {
			r.Taus = Taus(m)
		}
		if tau, most := r.Taus[len(r.Taus)-1], m.Allowed.Len(); tau > most {
			return t, fmt.Errorf("-tau %d is more than the %d CPUs that may be used: oversubscribed copies are not concurrent", tau, most)
		}
		place, err := r.Place(m)
		if err != nil {
			return t, err
		}
		r.ArenaCaches = setups.NeededCaches(m, []bool{len(r.Levels) == 0 || slices.Contains(r.Levels, Memory) || slices.Contains(r.Levels, Remote)})
		found, _ := Levels(m, place, r.Taus[0], r.ArenaCaches)
		known := lists.Map(found, func(l Level) string { return l.Name })
		t.About = lists.Map(found, Level.about)
		for _, name := range r.Levels {
			if !slices.Contains(known, name) {
				return t, fmt.Errorf("-levels: there is no level %q on this machine: choose from %s", name, strings.Join(known, ", "))
			}
		}
		t.Plan = params.Plan{Policies: []numa.Policy{numa.Local}, Sizes: r.Sizes, Taus: r.Taus}
		t.Request, err = NewRequest(m, r)
		return t, err
	}
}

// about describes the working sets at a level.
func (l Level) about() string {
	switch {
	case !l.cache():
		return fmt.Sprintf("%-7s copies walk through %d MB at each end of each worker", l.Name, l.Least>>20)
	case l.Least == 0:
		return fmt.Sprintf("%-7s the same bytes again and again, up to %d KB of %d KB", l.Name, l.Most>>10, l.Cache>>10)
	}
	return fmt.Sprintf("%-7s copies walk through %d to %d KB of %d KB", l.Name, l.Least>>10, l.Most>>10, l.Cache>>10)
}
