//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/vm/machine"
)

// A guest is this machine, with the context of a check. A failed check is a panic with an error, as in
// package must.
type guest struct {
	context.Context
	machine machine.Machine
}

// fail ends a check.
func fail(format string, args ...any) { panic(fmt.Errorf(format, args...)) }

// An outcome is the output and status of a command.
type outcome struct {
	command     []string
	out, errOut string
	status      int
	took        time.Duration
}

// start runs a command to its end, and calls during while it runs. It fails if the command cannot be
// started or is killed.
func (g guest) start(during func(), command ...string) (outcome, error) {
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(g, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	// On SIGQUIT a Go program prints its stacks.
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
	var exit *exec.ExitError
	switch {
	case g.Err() != nil:
		return o, fmt.Errorf("did not end by itself within the check's time\n%v", o)
	case errors.As(err, &exit) && exit.Exited() || err == nil:
		return o, nil
	default:
		return o, fmt.Errorf("%w\n%v", err, o)
	}
}

// execute runs a command that must end by itself.
func (g guest) execute(command ...string) outcome { return must.Get(g.start(nil, command...)) }

// confine is execute by the helper confined.
func (g guest) confine(what []string, command ...string) outcome {
	return g.execute(confining(what, command)...)
}

func confining(what, command []string) []string {
	return slices.Concat([]string{"/init", "confined"}, what, command)
}

func (o outcome) String() string {
	return fmt.Sprintf("%s: exit status %d after %.1f s\n%s%s", strings.Join(o.command, " "), o.status, o.took.Seconds(), o.out, o.errOut)
}

// passed wants status 0, or 3 with a result, which has no interval: virtual machines are slow.
func (o outcome) passed() outcome {
	if o.status != 0 && (o.status != 3 || o.out == "") {
		fail("%v", o)
	}
	return o
}

// crash matches crashes of the Go runtime and signals.
var crash = regexp.MustCompile(`(?m)^(panic:|fatal error:|runtime:|goroutine \d+|SIG[A-Z]+:)`)

// clean wants a result, or an error of one sentence.
func (o outcome) clean() outcome {
	switch complaints := o.complaints(); {
	case crash.MatchString(o.errOut):
		fail("crashed: %v", o)
	case o.status < 0 || o.status > 3:
		fail("exit status %d, want 0 to 3: %v", o.status, o)
	case o.status != 0 && len(complaints) != 1:
		fail("%d sentences that say what went wrong, want 1: %v", len(complaints), o)
	case o.status == 0 && len(complaints) > 0:
		fail("complains, but its exit status is 0: %v", o)
	}
	return o
}

// complaints are the lines on standard error that are neither warnings nor progress.
func (o outcome) complaints() (lines []string) {
	for line := range strings.Lines(o.errOut) {
		if !strings.HasPrefix(line, "taulop: warning: ") && !strings.HasPrefix(line, "taulop: launch ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// refused wants an error of one sentence with all the words, and no result.
func (o outcome) refused(words ...string) {
	if o.clean(); o.status == 0 {
		fail("a result, want a refusal with %q: %v", words, o)
	}
	for _, word := range words {
		if !strings.Contains(o.complaints()[0], word) {
			fail("want %q in the sentence: %v", word, o)
		}
	}
}

// decode reads the document of a command that must have succeeded.
func (o outcome) decode(v any) {
	if err := json.Unmarshal([]byte(o.clean().passed().out), v); err != nil {
		fail("%w: %v", err, o)
	}
}

// result is the document of a measurement.
func (o outcome) result() (doc report.Series) {
	if o.decode(&doc); len(doc.Rows) == 0 || !(doc.Results.L.Center > 0) {
		fail("a result without numbers: %v", o)
	}
	return doc
}

const taulop = "/bin/taulop"

// measure wants a result.
func (g guest) measure(args ...string) report.Series {
	return g.execute(append([]string{taulop, "-json"}, args...)...).result()
}

func warns(doc report.Series, like string) bool {
	return regexp.MustCompile(like).MatchString(strings.Join(doc.Warnings, "\n"))
}
