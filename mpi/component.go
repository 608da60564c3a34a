package mpi

import (
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/taulop/taulop/internal/infile"
)

// A Component is an implementation of Open MPI's collectives that it has beside coll/tuned, whose
// rules are written, and does not take by itself on one node.
type Component struct {
	Name        string   `json:"name"`
	Environment []string `json:"environment"` // with which it is taken, and tuned where it has nothing
}

// components are those of 4.1 to 6.0 with a priority of 0, or switched off: coll_*_component.c.
// tuned has 30.
var components = []Component{
	{"acoll", []string{"OMPI_MCA_coll_acoll_priority=100"}},
	{"adapt", []string{"OMPI_MCA_coll_adapt_priority=100"}},
	{"han", []string{"OMPI_MCA_coll_han_priority=100"}},
	{"sm", []string{"OMPI_MCA_coll_sm_priority=100"}},
	{"ucc", []string{"OMPI_MCA_coll_ucc_enable=1", "OMPI_MCA_coll_ucc_priority=100"}},
	{"xhc", []string{"OMPI_MCA_coll_xhc_priority=100"}},
}

var collComponent = regexp.MustCompile(`^\s*MCA coll: (\w+) \(`)

// ReadComponents are the components that ompi_info says the library has, as far as they are known
// here. It fails for a text that names no component of collectives.
func ReadComponents(r io.Reader, name string) (all []Component, err error) {
	lines := infile.NewLines(io.LimitReader(r, maxRules), name, 1<<16)
	some := false
	for lines.Scan() {
		m := collComponent.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		some = true
		for _, c := range components {
			if c.Name == m[1] && !slices.ContainsFunc(all, func(o Component) bool { return o.Name == c.Name }) {
				all = append(all, c)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if !some {
		return nil, fmt.Errorf("%s names no component of collectives: give what ompi_info prints", name)
	}
	return all, nil
}

// ComponentNamed is a component by its name.
func ComponentNamed(name string) (Component, bool) {
	i := slices.IndexFunc(components, func(c Component) bool { return c.Name == name })
	if i < 0 {
		return Component{}, false
	}
	return components[i], true
}
