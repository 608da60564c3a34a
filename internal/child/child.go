// Package child starts this program again, as a process that measures for it.
//
// Its opinion: such a process has no purpose without its parent, and ends with it. If the system refuses
// it memory, a thread or a file, users need the limit to raise, not the Go runtime's message.
package child

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Command is this program with one argument. The caller sets the rest.
func Command(word string) (*exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil { // no /proc is mounted
		if exe, err = exec.LookPath(os.Args[0]); err != nil {
			return nil, fmt.Errorf("this program does not find itself to begin it again: %w", err)
		}
	}
	return &exec.Cmd{Path: exe, Args: []string{os.Args[0], word}, SysProcAttr: endsWithParent()}, nil
}

// forks are carried out by one thread, which lives as long as the process: the kernel takes a child's
// parent for dead when the thread that forked the child ends.
var forks = sync.OnceValue(func() chan<- func() {
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for fork := range c {
			fork()
		}
	}()
	return c
})

// Start starts a command as cmd.Start does. The timers of the child may be late by slack; 0: as usual.
func Start(cmd *exec.Cmd, slack time.Duration) (err error) {
	done := make(chan struct{})
	forks() <- func() {
		setSlack(slack)
		err = cmd.Start()
		setSlack(0)
		close(done)
	}
	<-done
	return err
}

// refusals are the Go runtime's messages when it ends a program because the system refuses a resource.
var refusals = []struct {
	printed *regexp.Regexp
	means   string
}{
	{regexp.MustCompile(`pthread_create failed|newosproc|failed to create new OS thread`), "the system gave it no more threads: allow more processes (ulimit -u, in a container pids.max) or more address space (ulimit -v)"},
	{regexp.MustCompile(`epollcreate|eventfd|netpollinit`), "it may not open enough files: allow more (ulimit -n)"},
	{regexp.MustCompile(`(?i)out of memory|cannot allocate memory|cannot map pages|address space|failed to (allocate|reserve) `), "the system gave it no more memory: allow more address space (ulimit -v), or stop what else uses memory"},
}

// Ended adds the cause, from a child's standard error, to its error.
func Ended(err error, stderr []byte) error {
	first, _, _ := strings.Cut(string(bytes.TrimSpace(stderr)), "\n")
	if !strings.HasPrefix(first, "taulop: ") { // else the child said why
		start := stderr[:min(len(stderr), 1<<10)]
		for _, r := range refusals {
			if r.printed.Match(start) {
				return fmt.Errorf("%w: %s", err, r.means)
			}
		}
	}
	if first == "" {
		return err
	}
	return fmt.Errorf("%w: %.300s", err, strings.TrimPrefix(first, "taulop: "))
}
