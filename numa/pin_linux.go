package numa

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// Pin locks the calling goroutine to its thread, the thread to the CPU, and asks
// the kernel whether it obeyed.
//
// The thread keeps its affinity, so never unlock the goroutine, also not after
// an error: the runtime ends a locked thread together with its goroutine, and
// the affinity with it.
func Pin(cpu int) error {
	if cpu < 0 || cpu > maxCPU {
		return fmt.Errorf("cannot pin to CPU %d: there is no such CPU", cpu)
	}
	runtime.LockOSThread()
	want := unix.NewCPUSet(cpu + 1)
	want.Set(cpu)
	if err := unix.SchedSetaffinityDynamic(0, want); err != nil {
		return fmt.Errorf("cannot pin to CPU %d: sched_setaffinity: %w; is it online and in this process's cpuset?", cpu, err)
	}
	got, err := affinity()
	if err != nil {
		return fmt.Errorf("cannot tell whether the thread is on CPU %d: %w", cpu, err)
	}
	if got.Len() != 1 || got[0] != cpu {
		return fmt.Errorf("pinned to CPU %d, but the kernel keeps the thread on %v: was the cpuset changed?", cpu, got)
	}
	return nil
}

// affinity is the set of CPUs that the calling thread may run on.
func affinity() (CPUSet, error) {
	// The kernel refuses a mask shorter than its own, which is as long as it
	// was built for and not as the machine is large.
	for size := 1024; ; size *= 2 {
		mask := unix.NewCPUSet(size)
		err := unix.SchedGetaffinityDynamic(0, mask)
		if err == unix.EINVAL && size < maxCPU {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("sched_getaffinity: %w", err)
		}
		var set CPUSet
		for cpu := range size {
			if mask.IsSet(cpu) {
				set = append(set, cpu)
			}
		}
		return set, nil
	}
}
