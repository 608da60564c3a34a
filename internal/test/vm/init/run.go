//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/test/vm/machine"
)

// A guest is the machine that this is.
type guest struct {
	machine machine.Machine
	verbose bool
}

// An outcome is what a command left.
type outcome struct {
	command     []string
	out, errOut string
	status      int
	took        time.Duration
}

// execute runs a command to its end; while it runs, during is called. An error
// says that it could not be started, or had to be killed.
func (g guest) execute(ctx context.Context, during func(), command ...string) (outcome, error) {
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if g.verbose { // as it is said: who waits for minutes sees where they go
		fmt.Println(strings.Join(command, " "))
		cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, os.Stdout), io.MultiWriter(&errOut, os.Stdout)
	}
	// A Go program says on SIGQUIT where it hangs.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = 5 * time.Second
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	if during != nil {
		during()
	}
	err := cmd.Wait()
	o := outcome{command, out.String(), errOut.String(), cmd.ProcessState.ExitCode(), time.Since(began)}
	if g.verbose {
		fmt.Printf("exit status %d after %.1f s\n", o.status, o.took.Seconds())
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return o, fmt.Errorf("did not end by itself within the check's time\n%v", o)
	case errors.As(err, &exit) && exit.Exited() || err == nil:
		return o, nil
	default:
		return o, fmt.Errorf("%w\n%v", err, o)
	}
}

func (o outcome) String() string {
	return fmt.Sprintf("%s: exit status %d after %.1f s\n%s%s", strings.Join(o.command, " "), o.status, o.took.Seconds(), o.out, o.errOut)
}

// crash is how the Go runtime and the kernel say what no user should read.
var crash = regexp.MustCompile(`(?m)^(panic:|fatal error:|runtime:|goroutine \d+|SIG[A-Z]+:)`)

// clean wants a result, or one sentence that says why there is none.
func (o outcome) clean() error {
	switch complaints := o.complaints(); {
	case crash.MatchString(o.errOut):
		return fmt.Errorf("crashed: %v", o)
	case o.status != 0 && o.status != 1 && o.status != 2:
		return fmt.Errorf("exit status %d, want 0, 1 or 2: %v", o.status, o)
	case o.status != 0 && len(complaints) != 1:
		return fmt.Errorf("%d sentences that say what went wrong, want 1: %v", len(complaints), o)
	case o.status == 0 && len(complaints) > 0:
		return fmt.Errorf("complains, but its exit status is 0: %v", o)
	}
	return nil
}

// complaints are the lines on standard error that are neither warnings nor progress, which
// says how far it is once a minute.
func (o outcome) complaints() (lines []string) {
	for line := range strings.Lines(o.errOut) {
		if !strings.HasPrefix(line, "taulop: warning: ") && !strings.HasPrefix(line, "taulop: launch ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// refused wants no result and one sentence in which all the words are.
func (o outcome) refused(words ...string) error {
	if err := o.clean(); err != nil {
		return err
	}
	if o.status == 0 {
		return fmt.Errorf("a result, want a refusal with %q: %v", words, o)
	}
	for _, word := range words {
		if !strings.Contains(o.complaints()[0], word) {
			return fmt.Errorf("want %q in the sentence: %v", word, o)
		}
	}
	return nil
}

// result is the document of a run that must have succeeded.
func (o outcome) result() (doc report.Series, err error) {
	if err := o.clean(); err != nil {
		return doc, err
	}
	if o.status != 0 {
		return doc, fmt.Errorf("no result: %v", o)
	}
	if err := json.Unmarshal([]byte(o.out), &doc); err != nil {
		return doc, fmt.Errorf("%w: %v", err, o)
	}
	if len(doc.Rows) == 0 || !(doc.Results.L.Center > 0) {
		return doc, fmt.Errorf("a result without numbers: %v", o)
	}
	return doc, nil
}

const taulop = "/bin/taulop"

// confine runs a command with something taken away, see confined.
func (g guest) confine(ctx context.Context, what []string, command ...string) (outcome, error) {
	return g.execute(ctx, nil, slices.Concat([]string{"/init", "confined"}, what, command)...)
}
