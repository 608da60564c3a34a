package survey

import (
	"flag"
	"fmt"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Command is a survey as a command: its help, its flags and its tables.
type Command struct {
	Help   string        // before the flags
	Time   time.Duration // default budget; 0: the task has it
	Budget string        // its description in the help
	Takes  bool          // arguments besides flags
	// Carries: the cells are memory bandwidths, which users may compare with the theoretical one.
	Carries bool
	// Most is the default bound on launches, which are spread over the time; 0: none.
	Most int
	// Flags adds flags, and returns the function that makes a task of flags and arguments. Its error is
	// about these.
	Flags func(*flag.FlagSet) func(*numa.Machine) (Task, error)
}

// A Task is a request with its description in a file.
type Task struct {
	Request
	Plan     params.Plan
	Places   []numa.Placement
	Networks []params.Network
	Time     time.Duration // default budget, if the command has none
	Warnings []error
	About    []string // lines about the measurement and its place
	Huge     bool     // it asks for huge pages in any case
	// Tables are the command's output; nil: the survey's tables.
	Tables func(*params.File) []view.Table
	// Document is the output with -json; nil: the file.
	Document func(*params.File) any
}

// Doubling are the powers of two below a number, and the number.
func Doubling(most int) (taus []int) {
	for tau := 1; tau < most; tau *= 2 {
		taus = append(taus, tau)
	}
	return append(taus, most)
}

// OnCPU adds the flag -cpu of surveys with one worker, and returns the function that places it.
func OnCPU(f *flag.FlagSet) func(*numa.Machine) (numa.Placement, params.Plan, error) {
	var cpu []int
	argument.Var(f, &cpu, "cpu", "", "measure on this `CPU` (default the first that may be used)", numa.ParseOrder)
	return func(m *numa.Machine) (place numa.Placement, plan params.Plan, err error) {
		switch len(cpu) {
		case 0:
			place, err = m.Place(numa.Local, 1)
		case 1:
			place, err = m.PlaceOn(cpu, 1)
			plan.CPUs = cpu
		default:
			err = fmt.Errorf("-cpu %v: name one CPU, like 0", f.Lookup("cpu").Value)
		}
		plan.Policies = []numa.Policy{place.Policy}
		return place, plan, err
	}
}
