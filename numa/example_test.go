package numa_test

import (
	"fmt"

	"github.com/taulop/taulop/numa"
)

// The kernel's format of CPU lists.
func ExampleParseList() {
	cpus, err := numa.ParseList("0-3,8,10-11")
	fmt.Println(len(cpus), cpus, err)
	// Output: 7 0-3,8,10-11 <nil>
}

// The CPUs and nodes of four workers on this machine.
func ExampleMachine_Place() {
	machine, err := numa.Discover("/")
	if err != nil {
		fmt.Println(err)
		return
	}
	placement, err := machine.Place(numa.Local, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range placement.Workers {
		fmt.Println(w.CPU, w.Node)
	}
}
