package mpi

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/taulop/taulop/internal/infile"
)

// A Component is an environment in which a library takes other collectives, or messages, than by itself
// on one node: of Open MPI a component that it has beside coll/tuned, whose rules are written, or of any
// library a variable that the user names.
type Component struct {
	Name        string   `json:"name"`
	Environment []string `json:"environment"` // with which it is taken, and tuned where it has nothing
}

// components are those of a priority of 0 or switched off, and hcoll, which Forcible switches off:
// coll_*_component.c of 4.1 to 6.0. tuned has 30.
var components = []struct {
	Component
	from, before float64 // versions that have it
}{
	{Component{"acoll", []string{"OMPI_MCA_coll_acoll_priority=100"}}, 6, math.Inf(1)},
	{Component{"adapt", []string{"OMPI_MCA_coll_adapt_priority=100"}}, 4.1, math.Inf(1)},
	{Component{"han", []string{"OMPI_MCA_coll_han_priority=100"}}, 4.1, math.Inf(1)},
	{Component{"hcoll", []string{"OMPI_MCA_coll_hcoll_enable=1"}}, 4, 6},
	{Component{"sm", []string{"OMPI_MCA_coll_sm_priority=100"}}, 4, 6},
	{Component{"ucc", []string{"OMPI_MCA_coll_ucc_enable=1", "OMPI_MCA_coll_ucc_priority=100"}}, 4.1, math.Inf(1)},
	{Component{"xhc", []string{"OMPI_MCA_coll_xhc_priority=100"}}, 6, math.Inf(1)},
}

// A variable of the environment, with its value: of letters that need no quotes, in a file's name either.
var variable = regexp.MustCompile(`^[A-Z][A-Za-z0-9_]{1,40}=[A-Za-z0-9_.:,+-]{1,30}$`)

// Components are what words say: a version of Open MPI the components that it has, if it was built with
// them, and NAME=VALUE a variable of the environment. What is neither is named by open, for ReadComponents.
// It fails for a version without any.
func Components(words []string, open func(file string) ([]Component, error)) (all []Component, err error) {
	for _, word := range words {
		var some []Component
		version, failed := strconv.ParseFloat(word, 64)
		switch {
		case failed == nil:
			for _, c := range components {
				if c.from <= version && version < c.before {
					some = append(some, c.Component)
				}
			}
			if some == nil {
				return nil, fmt.Errorf("no component of Open MPI %s is known; give a version from 4.0 on, such as 5.0", word)
			}
		case variable.MatchString(word):
			some = []Component{{word, []string{word}}}
		default:
			if some, err = open(word); err != nil {
				return nil, err
			}
		}
		for _, c := range some {
			if !slices.ContainsFunc(all, func(o Component) bool { return o.Name == c.Name }) {
				all = append(all, c)
			}
		}
	}
	return all, nil
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
				all = append(all, c.Component)
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

// ComponentNamed is a component by its name, or a variable as it was given.
func ComponentNamed(name string) (Component, bool) {
	if variable.MatchString(name) {
		return Component{name, []string{name}}, true
	}
	for _, c := range components {
		if c.Name == name {
			return c.Component, true
		}
	}
	return Component{}, false
}
