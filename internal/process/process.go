// Package process is this process as the system sees it: its CPU time, its CPUs, whether its standard
// output is open, and how a crash ends it.
package process

import (
	"sync/atomic"
	"time"
)

// ran and waited are what Launched was told, in ns.
var ran, waited atomic.Int64

// Launched adds the CPU time of a process that this one began in order to measure, see OnCPU.
func Launched(itRan, itWaited time.Duration) {
	ran.Add(int64(itRan))
	waited.Add(int64(itWaited))
}

// OnCPU is the time that the threads of launched processes ran, and the time that they waited for a CPU.
// Without any it is that of this process, which waits for launched ones where they take all CPUs; 0 if the
// kernel does not say.
func OnCPU() (time.Duration, time.Duration) {
	if ran := ran.Load(); ran > 0 {
		return time.Duration(ran), time.Duration(waited.Load())
	}
	return own()
}
