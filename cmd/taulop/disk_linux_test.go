package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A full and a read-only disk are errors, and nothing is left on them. They are mounts in the child's
// namespace.
func TestDiskRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting needs root")
	}
	program := build(t)
	for _, tt := range []struct{ options, want string }{
		{"size=8m", "there is no room for a file of 64 MB"},
		{"size=8m,ro", "no file can be written there"},
	} {
		dir := t.TempDir()
		cmd := exec.Command("sh", "-c", `mount -t tmpfs -o "$2" taulop "$1" || exit 77
"$0" disk -quiet "$1"; code=$?
ls -A "$1"; exit $code`, program, dir, tt.options)
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		var out, errOut bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errOut
		err := cmd.Run()
		if errors.Is(err, syscall.EPERM) || cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 77 {
			t.Skip("this root may not mount: ", errOut.String())
		}
		if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(errOut.String(), tt.want) || strings.Count(errOut.String(), "\n") != 1 {
			t.Errorf("%s: exit %d, %q; want exit 2 and one line with %q", tt.options, code, errOut.String(), tt.want)
		}
		if out.Len() > 0 {
			t.Errorf("%s: left behind: %s", tt.options, out.String())
		}
	}
}
