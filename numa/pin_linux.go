package numa

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Pin locks the calling goroutine to its thread, pins the thread to the CPU and verifies its
// affinity.
//
// Never unlock the goroutine, also not after an error: the thread keeps the affinity, and the
// runtime ends a locked thread together with its goroutine.
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
	got, err := affinityOf(0)
	if err != nil {
		return fmt.Errorf("cannot tell whether the thread is on CPU %d: %w", cpu, err)
	}
	if got.Len() != 1 || got[0] != cpu {
		return fmt.Errorf("pinned to CPU %d, but the kernel keeps the thread on %v: was the cpuset changed?", cpu, got)
	}
	return nil
}

// affinityOf is a thread's affinity; 0 is the calling thread.
func affinityOf(thread int) (CPUSet, error) {
	// The kernel refuses a mask shorter than its own, whose length it was built with.
	for size := 1024; ; size *= 2 {
		mask := unix.NewCPUSet(size)
		err := unix.SchedGetaffinityDynamic(thread, mask)
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

// GiveWay has the calling thread run only while no other thread needs its CPU (SCHED_IDLE).
func GiveWay() error {
	idle := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}
	if err := unix.SchedSetAttr(0, &idle, 0); err != nil {
		return fmt.Errorf("a thread that keeps a core busy cannot give way to others: sched_setattr: %w", err)
	}
	return nil
}

// ThreadID is the kernel's number of the calling thread.
func ThreadID() int { return unix.Gettid() }

// Pinned fails if a thread's affinity is no longer the CPU alone: a shrinking cpuset moves threads
// without notice. It passes a thread whose affinity cannot be read.
func Pinned(thread, cpu int) error {
	set, err := affinityOf(thread)
	if err != nil || set.Len() == 1 && set[0] == cpu {
		return nil
	}
	return fmt.Errorf("a worker was moved away from CPU %d, its CPUs are now %v: its cpuset or affinity was changed during the run, so begin again on the CPUs that are left", cpu, set)
}

// runtimeBytes of address space are reserved for the Go runtime, which cannot run out.
const runtimeBytes = 256 << 20

// addressSpaceLeft is the number of bytes that RLIMIT_AS leaves for mappings.
func addressSpaceLeft() int64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil || limit.Cur > uint64(unlimited) {
		return unlimited
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return unlimited
	}
	var pages int64
	if _, err := fmt.Sscan(string(statm), &pages); err != nil {
		return unlimited
	}
	return max(0, int64(limit.Cur)-pages*int64(os.Getpagesize())-runtimeBytes)
}
