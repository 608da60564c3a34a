package mpi

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"

	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
)

// A Component is an environment that changes a library's collectives or protocols on one node: a coll
// component of Open MPI other than tuned, or a variable that the user names.
type Component struct {
	Name        string   `json:"name"`
	Environment []string `json:"environment"` // selects it; tuned has the collectives that it lacks
}

// components are Open MPI's coll components with priority 0 or disabled by default, where tuned has
// priority 30, and hcoll, which Forcible disables: coll_*_component.c of 4.1 to 6.0.
var components = []struct {
	Component
	from, before float64 // versions of Open MPI: from ≤ version < before
}{
	{Component{"acoll", []string{"OMPI_MCA_coll_acoll_priority=100"}}, 6, math.Inf(1)},
	{Component{"adapt", []string{"OMPI_MCA_coll_adapt_priority=100"}}, 4.1, math.Inf(1)},
	{Component{"han", []string{"OMPI_MCA_coll_han_priority=100"}}, 4.1, math.Inf(1)},
	{Component{"hcoll", []string{"OMPI_MCA_coll_hcoll_enable=1"}}, 4, 6},
	{Component{"sm", []string{"OMPI_MCA_coll_sm_priority=100"}}, 4, 6},
	{Component{"ucc", []string{"OMPI_MCA_coll_ucc_enable=1", "OMPI_MCA_coll_ucc_priority=100"}}, 4.1, math.Inf(1)},
	{Component{"xhc", []string{"OMPI_MCA_coll_xhc_priority=100"}}, 6, math.Inf(1)},
}

// variable is NAME=VALUE in characters that need no quotes in a shell or in a file's name.
var variable = regexp.MustCompile(`^[A-Z][A-Za-z0-9_]{1,40}=[A-Za-z0-9_.:,+-]{1,30}$`)

// Components resolves words: a version of Open MPI stands for all of its components, NAME=VALUE for an
// environment variable, and any other word for a file that open reads by ReadComponents. It fails for a
// version without components.
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
		all = append(all, some...)
	}
	return distinct(all), nil
}

// distinct has the first component of each name.
func distinct(all []Component) []Component {
	return lists.Map(lists.Groups(all, func(c Component) string { return c.Name }), func(of []Component) Component { return of[0] })
}

var collComponent = regexp.MustCompile(`^\s*MCA coll: (\w+) \(`)

// ReadComponents reads the known components from the output of ompi_info. It fails if the output has no
// coll component at all.
func ReadComponents(r io.Reader, name string) (all []Component, err error) {
	lines := infile.NewLines(io.LimitReader(r, maxRules), name, 1<<16)
	listed := false
	for lines.Scan() {
		m := collComponent.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		listed = true
		if c, known := ComponentNamed(m[1]); known {
			all = append(all, c)
		}
	}
	if err := lines.Failed("give what ompi_info prints"); err != nil {
		return nil, err
	}
	if !listed {
		return nil, fmt.Errorf("%s names no component of collectives: give what ompi_info prints", name)
	}
	return distinct(all), nil
}

// ComponentNamed finds a component by its name; NAME=VALUE is its own component.
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
