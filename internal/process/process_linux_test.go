package process

import (
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/check"
)

// CPU time is that of the processes that measure, once there are any: this one waits while they take all CPUs.
func TestOnCPU(t *testing.T) {
	t.Cleanup(func() { ran.Store(0); waited.Store(0) })
	own, _ := OnCPU()
	check.True(t, own > 0, "own CPU time %v", own)
	Launched(0, 0) // did not say
	again, _ := OnCPU()
	check.AtLeast(t, again, own, "own CPU time")
	Launched(3*time.Second, time.Second)
	Launched(time.Second, 0)
	theirs, forCPU := OnCPU()
	check.Equal(t, theirs, 4*time.Second, "CPU time of two launches")
	check.Equal(t, forCPU, time.Second, "time for which they waited")
}
