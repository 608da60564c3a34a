package process

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// OnCPU is the time that this process's threads ran, and the time that they waited for a CPU; 0 if the
// kernel does not say.
func OnCPU() (ran, waited time.Duration) {
	files, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		var r, w time.Duration
		if _, err := fmt.Sscan(string(text), &r, &w); err == nil {
			ran, waited = ran+r, waited+w
		}
	}
	return ran, waited
}
