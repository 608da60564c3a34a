package process

import (
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/check"
)

// CPU time is that of the processes that measure, once there are any: this one waits while they take all CPUs.
func TestOnCPU(t *testing.T) {
	ran, _ := OnCPU()
	check.True(t, ran > 0, "own CPU time %v", ran)
	Launched(0, 0) // did not say
	if again, _ := OnCPU(); again < ran {
		t.Errorf("own CPU time %v, then %v", ran, again)
	}
	Launched(3*time.Second, time.Second)
	Launched(time.Second, 0)
	ran, waited := OnCPU()
	check.Equal(t, ran, 4*time.Second, "CPU time of two launches")
	check.Equal(t, waited, time.Second, "time for which they waited")
}
