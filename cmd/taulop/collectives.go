package main

import (
	"fmt"
	"strings"

	"github.com/taulop/taulop/collective"
)

// collectiveList is, for the help, what each collective does and what its -m is.
func collectiveList() string {
	var list strings.Builder
	for _, c := range collective.Collectives() {
		fmt.Fprintf(&list, "  %-15s %s", c.Name, c.About)
		if !c.Empty() {
			fmt.Fprintf(&list, "; m is %s", c.M)
		}
		list.WriteByte('\n')
	}
	return list.String()
}

// rootedNames are the collectives with a root: "bcast, gather and scatter".
func rootedNames() string {
	var names []string
	for _, c := range collective.Collectives() {
		if c.Rooted {
			names = append(names, c.Name)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
