package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/test/vm/machine"
)

// A boot is a run of a machine, from power on to power off.
type boot struct {
	machine machine.Machine
	kernel  string
	initrd  string
	checks  string // part of the names of checks to run
	large   bool
}

// tailLines is the number of the console's last lines that are shown if a machine ends without a verdict.
const tailLines = 40

// run boots the machine and copies its report to out. The error has the number of failed checks, or
// without a verdict the end of the console's text.
//
// On a busy host some emulated machines do not start their first program; then run reports that and boots
// again.
func (b boot) run(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "== %s: %s\n", b.machine.Name, b.machine.About)
	err := b.once(ctx, out)
	for again := 0; errors.Is(err, errNotUp) && again < 2 && ctx.Err() == nil; again++ {
		fmt.Fprintf(out, "   %v\n   again:\n", err)
		err = b.once(ctx, out)
	}
	return err
}

// upWithin bounds the time to the first program, which is 2 s on an idle host: the kernel stops all CPUs
// several times, and continues only after each has had its turn on the host.
func (b boot) upWithin() time.Duration {
	return max(time.Minute, time.Duration(b.machine.CPUs())*3*time.Second)
}

var errNotUp = errors.New("the machine's first program did not start")

func (b boot) once(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, machine.Limit, fmt.Errorf("was not done after %v", machine.Limit))
	defer cancel()
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	began := time.Now()
	cmd := exec.CommandContext(ctx, qemu, b.args()...)
	cmd.WaitDelay = 5 * time.Second
	console, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	patience := time.AfterFunc(b.upWithin(), func() { give(errNotUp) })
	defer patience.Stop()
	var v verdict
	var tail []string
	for lines := bufio.NewScanner(console); lines.Scan(); {
		line := strings.TrimRight(lines.Text(), "\r")
		if tail = append(tail, line); len(tail) > tailLines {
			tail = tail[1:]
		}
		said, ours := v.read(line)
		if ours {
			patience.Stop()
		}
		if ours && said != up {
			fmt.Fprintf(out, "   %s\n", said)
		}
	}
	err = cmd.Wait()
	if v.done {
		// Low CPU time means that other programs used the host.
		used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		fmt.Fprintf(out, "   %.1f s from power on to power off, %.1f s of the host's CPUs\n", time.Since(began).Seconds(), used.Seconds())
		return v.err()
	}
	switch cause := context.Cause(ctx); {
	case cause != nil:
		err = cause
	case !v.up:
		err = errNotUp
	case err != nil:
		err = fmt.Errorf("ended without a verdict: %w", err)
	default:
		err = errors.New("ended without a verdict")
	}
	return fmt.Errorf("%w; the end of its console:\n%s", err, strings.Join(tail, "\n"))
}

// options are the kernel's command line. A panic reboots, and a reboot ends QEMU. The processor's time
// stamp counter is far cheaper than the emulated clock that the kernel prefers. On a busy host the emulated
// timer fails the kernel's check of it.
func (b boot) options() string {
	kernel := "console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check mitigations=off vm.machine=" + b.machine.Name +
		" vm.run=" + url.QueryEscape(b.checks)
	if b.large {
		kernel += " vm.large=1"
	}
	return kernel
}

func (b boot) args() []string {
	return append(b.machine.QEMU(),
		"-accel", "tcg,thread=multi",
		// QEMU describes SMT like Intel's processors only.
		"-cpu", "max,vendor=GenuineIntel",
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-serial", "stdio", "-kernel", b.kernel, "-initrd", b.initrd, "-append", b.options())
}

// A verdict is read from a machine's output: lines that begin with "vm: " are its report, the last of
// which has the counts.
type verdict struct {
	up, done       bool
	passed, failed int
}

// up is the first line of a report.
const up = "up"

// read returns the text of a line, if it belongs to the report.
func (v *verdict) read(line string) (said string, ours bool) {
	said, ours = strings.CutPrefix(line, "vm: ")
	v.up = v.up || ours
	if n, _ := fmt.Sscanf(said, "%d passed, %d failed", &v.passed, &v.failed); ours && n == 2 {
		v.done = true
	}
	return said, ours
}

func (v *verdict) err() error {
	switch {
	case v.failed > 0:
		return fmt.Errorf("%d of %d checks failed", v.failed, v.passed+v.failed)
	case v.passed == 0:
		return errors.New("no check ran: -run matches none that this machine has")
	}
	return nil
}
