package survey

import (
	"flag"
	"fmt"
	"time"

	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Command is a survey as a command: its help, its flags and its tables.
type Command struct {
	Help   string        // before the flags
	Time   time.Duration // budget, unless they say another; 0: the task has it
	Budget string        // what its help says of Time
	Takes  bool          // arguments besides flags
	// Carries: its cells say what memory carries, which a user may put beside what it should.
	Carries bool
	// Most, if not 0, bounds the launches unless their number was asked for. They are spread
	// over the time, because results depend on the moment.
	Most int
	// Flags adds flags, and returns what makes a task of them and of arguments. An error
	// is about what was asked for.
	Flags func(*flag.FlagSet) func(*numa.Machine) (Task, error)
}

// A Task is a request with what a file says of it.
type Task struct {
	Request
	Plan     params.Plan
	Places   []numa.Placement
	Networks []params.Network
	Time     time.Duration // budget, unless the user says another, where the command has none
	Warnings []error
	About    []string // of what is measured and where, lines for people
	// Tables are what the command prints; nil: the survey's.
	Tables func(*params.File) []view.Table
	// Document is what -json writes; nil: the file.
	Document func(*params.File) any
}

// OnCPU adds the flag -cpu of surveys with one worker. The returned function places that
// worker, with a plan that says so.
func OnCPU(f *flag.FlagSet) func(*numa.Machine) (numa.Placement, params.Plan, error) {
	cpu := f.Int("cpu", -1, "measure on this `CPU` (default the first that may be used)")
	return func(m *numa.Machine) (place numa.Placement, plan params.Plan, err error) {
		switch {
		case *cpu < -1:
			err = fmt.Errorf("-cpu is %d: give the number of a CPU, from 0", *cpu)
		case *cpu < 0:
			place, err = m.Place(numa.Local, 1)
		default:
			place, err = m.PlaceOn([]int{*cpu}, 1)
			plan.CPUs = []int{*cpu}
		}
		plan.Policies = []numa.Policy{place.Policy}
		return place, plan, err
	}
}
