//go:build !linux

package child

import (
	"syscall"
	"time"
)

// endsWithParent is the child's own task: its standard input ends.
func endsWithParent() *syscall.SysProcAttr { return nil }

// setSlack does nothing: timer slack is Linux's.
func setSlack(time.Duration) {}
