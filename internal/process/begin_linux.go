package process

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/numa"
)

// BeginOn starts this program anew in this process, with the same arguments, on some CPUs. It returns
// only if that fails.
func BeginOn(cpus numa.CPUSet) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot begin anew on CPUs %v: %w", cpus, err)
	}
	runtime.LockOSThread() // the new program inherits the thread's CPUs
	defer runtime.UnlockOSThread()
	mask := unix.NewCPUSet(cpus[len(cpus)-1] + 1)
	for _, cpu := range cpus {
		mask.Set(cpu)
	}
	if err = unix.SchedSetaffinityDynamic(0, mask); err == nil {
		err = unix.Exec(program, os.Args, os.Environ())
	}
	return fmt.Errorf("cannot begin anew on CPUs %v: %w", cpus, err)
}
