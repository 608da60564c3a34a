//go:build !linux

package process

import "time"

// OnCPU needs Linux.
func OnCPU() (ran, waited time.Duration) { return 0, 0 }
