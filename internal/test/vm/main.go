// Vm tests taulop's NUMA placements in virtual machines: with one, two and four nodes, with SMT, and with
// a node without CPUs, without memory or with little memory. In each it runs the tests of numa and
// setups that ask the kernel, and taulop's commands; in two also the other tests of shm, and with
// -large the other tests of setups. It also removes CPUs, memory, system calls and /sys.
//
// Usage, on Debian:
//
//	go run ./internal/test/vm                  all machines
//	go run ./internal/test/vm 4nodes smt       these
//	go run ./internal/test/vm -large 2nodes    also slow checks: all tests of setups, and little memory
//	go run ./internal/test/vm -parallel 2      two at a time; each report is printed at its end
//	go run ./internal/test/vm -run shrink 2nodes
//	                                           checks with "shrink" in their name
//
// It needs QEMU (package qemu-system-x86). Debian's cloud kernel is downloaded, not
// installed, and kept in the user's cache directory; -kernel names another. Machines are emulated
// (-accel tcg), need no KVM and see nothing of the host: they have the kernel, the test binaries and a
// small /init. Their timings mean nothing. A failed check is repeated once, and both outcomes are
// printed.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/vm/machine"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := must.Try(func() { prove(ctx, os.Stdout, os.Args[1:]) }); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "vm: %v\n", err)
		os.Exit(1)
	}
}

// prove boots the machines that args name. An error is a panic.
func prove(ctx context.Context, out io.Writer, args []string) {
	var (
		flags  = flag.NewFlagSet("vm", flag.ContinueOnError)
		run    = flags.String("run", "", "only the checks whose name contains `text`")
		large  = flags.Bool("large", false, "also what takes minutes a machine: all tests of setups, and little memory")
		kernel = flags.String("kernel", "", "boot the Linux kernel in this `file`")
		atOnce = flags.Uint("parallel", 1, "run this number of `machines` at once")
	)
	must.Do(flags.Parse(args))
	var machines []machine.Machine
	for _, name := range flags.Args() {
		machines = append(machines, must.Get(machine.Lookup(name)))
	}
	if machines == nil {
		machines = machine.All
	}
	cache := filepath.Join(must.Get(os.UserCacheDir()), "taulop-vm")
	must.Do(os.MkdirAll(cache, 0o755))
	if _, err := exec.LookPath(qemu); err != nil {
		panic(fmt.Errorf("%w: install it (Debian's package qemu-system-x86)", err))
	}
	if *kernel == "" {
		*kernel = needKernel(ctx, cache)
	}
	work := must.Get(os.MkdirTemp("", "taulop-vm-"))
	defer os.RemoveAll(work)
	initrd := filepath.Join(work, "initrd")
	build(ctx, work, initrd)
	must.Do(bootAll(ctx, out, machines, int(max(1, *atOnce)), boot{kernel: *kernel, initrd: initrd, checks: *run, large: *large}))
}

// bootAll boots machines, at most atOnce at a time, and prints their reports.
func bootAll(ctx context.Context, out io.Writer, machines []machine.Machine, atOnce int, options boot) error {
	var (
		failed []string
		mutex  sync.Mutex // of out and failed
		boots  errgroup.Group
	)
	boots.SetLimit(atOnce)
	for _, m := range machines {
		if ctx.Err() != nil {
			break
		}
		boots.Go(func() error {
			boot, report := options, out
			boot.machine = m
			if atOnce > 1 {
				report = new(bytes.Buffer)
			}
			err := boot.run(ctx, report)
			mutex.Lock()
			defer mutex.Unlock()
			if buffer, kept := report.(*bytes.Buffer); kept {
				buffer.WriteTo(out)
			}
			if err != nil {
				fmt.Fprintf(out, "%s: %v\n", m.Name, err)
				failed = append(failed, m.Name)
			}
			return nil
		})
	}
	boots.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed on %s", strings.Join(failed, ", "))
	}
	fmt.Fprintln(out, "all machines passed")
	return nil
}

// build builds the programs for the machines and packs them.
func build(ctx context.Context, work, initrd string) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		panic(fmt.Errorf("go list -m: %w: run this in the module's directory", err))
	}
	bin := filepath.Join(work, "bin")
	must.Do(os.MkdirAll(bin, 0o755))
	for _, args := range [][]string{
		{"test", "-c", "-o", bin + "/", "./numa", "./shm", "./setups"},
		{"build", "-o", bin + "/", "./cmd/taulop", "./internal/test/vm/init"},
	} {
		// Stripped, because the machines unpack them into memory.
		cmd := exec.CommandContext(ctx, "go", append([]string{args[0], "-trimpath", "-tags=overcommit", "-ldflags=-s -w"}, args[1:]...)...)
		cmd.Dir = strings.TrimSpace(string(module))
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
		must.Do(quietly(cmd))
	}
	must.Do(os.WriteFile(initrd, newInitramfs(bin), 0o644))
}
