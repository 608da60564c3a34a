//go:build !linux

package process

import "time"

// OnCPU is known on Linux alone.
func OnCPU() (ran, waited time.Duration) { return 0, 0 }
