//go:build !linux

package child

import "syscall"

// endsWithParent is the child's own task: its standard input ends.
func endsWithParent() *syscall.SysProcAttr { return nil }

// disturbLess does nothing: timer slack is Linux's.
func disturbLess() {}
