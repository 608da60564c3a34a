package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/must"
)

// A full disk and a read-only one are a sentence, and nothing is left on them. They
// are mounts that only the child sees.
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

// Nothing is left after signals, even the one that no program can handle.
func TestDiskStopped(t *testing.T) {
	program, dir := build(t), t.TempDir()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		cmd := exec.Command(program, "disk", "-quiet", "-time", "60s", "-file", "4M", "-m", "4K,1M", dir)
		must.Do(cmd.Start())
		held := false // its file is open
		for deadline := time.Now().Add(time.Minute); !held && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			links, _ := filepath.Glob("/proc/[0-9]*/fd/*") // of a launch
			for _, link := range links {
				to, _ := os.Readlink(link)
				held = held || strings.HasPrefix(to, dir)
			}
		}
		if !held {
			t.Error("it has no file")
		}
		cmd.Process.Signal(signal)
		cmd.Wait()
		if code, want := cmd.ProcessState.ExitCode(), 128+int(signal); signal != syscall.SIGKILL && code != want {
			t.Errorf("%v: exit %d, want %d", signal, code, want)
		}
		if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
			t.Errorf("%v: left behind: %v, %v", signal, left, err)
		}
	}
}
