package numa_test

import (
	"fmt"

	"github.com/taulop/taulop/numa"
)

// CPUs are written as the kernel writes them.
func ExampleParseList() {
	cpus, err := numa.ParseList("0-3,8,10-11")
	fmt.Println(len(cpus), cpus, err)
	// Output: 7 0-3,8,10-11 <nil>
}

// Where four workers of this machine would be, each with its buffers on the nearest node.
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
