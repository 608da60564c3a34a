//go:build linux

// Init is the first process of a virtual machine: it runs the machine's checks, reports each on a line
// that begins with "vm: ", and powers off.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/vm/machine"
)

func main() {
	if os.Getpid() != 1 {
		fmt.Fprintf(os.Stderr, "init: %v\n", helper(os.Args[1:]))
		os.Exit(125)
	}
	if err := must.Try(runChecks); err != nil {
		fmt.Printf("vm: %v\n", err)
	}
	powerOff()
}

// powerOff waits for the console's output, because an emulated line is slow.
func powerOff() {
	unix.IoctlSetInt(int(os.Stdout.Fd()), unix.TCSBRK, 1)
	unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// helper is this program as a process that a check starts.
func helper(args []string) error {
	if len(args) > 1 && args[0] == "confined" {
		return confined(args[1:])
	}
	return errors.New("this is the first process of a virtual machine: start that with go run ./internal/test/vm")
}

// runChecks runs the checks and prints their outcomes.
func runChecks() {
	mountAll()
	options := kernelOptions()
	m := must.Get(machine.Lookup(options["vm.machine"]))
	must.Do(unix.Sethostname([]byte(m.Name)))
	must.Do(os.Setenv("COLUMNS", "100000")) // a sentence is one line
	fmt.Println("vm: up")
	time.AfterFunc(machine.Limit, powerOff) // in case the host's side has ended
	g := guest{machine: m}
	passed, failed := 0, 0
	for _, c := range checks {
		if c.on != nil && !c.on(m) || c.large && options["vm.large"] == "" || !strings.Contains(c.name, options["vm.run"]) {
			continue
		}
		const limit = 10 * time.Minute // far more than on a busy host
		// An emulated machine stands still while the host is busy, which may make a check fail once.
		for _, failure := range []string{"once", "FAIL"} {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			began := time.Now()
			g.Context = ctx
			err := must.Try(func() { c.run(g) })
			cancel()
			took := time.Since(began).Seconds()
			if err == nil {
				passed++
				fmt.Printf("vm: ok   %5.1f s  %s\n", took, c.name)
				break
			}
			fmt.Printf("vm: %s %5.1f s  %s\n", failure, took, c.name)
			for line := range strings.Lines(err.Error()) {
				fmt.Printf("vm:      %s\n", strings.TrimRight(line, "\n"))
			}
			if failure == "FAIL" {
				failed++
			}
		}
	}
	fmt.Printf("vm: %d passed, %d failed\n", passed, failed)
}

func mountAll() {
	for _, m := range []struct{ kind, at, options string }{
		{"devtmpfs", "/dev", ""},
		{"proc", "/proc", ""},
		{"sysfs", "/sys", ""},
		{"tmpfs", "/tmp", "mode=1777"},
	} {
		if err := unix.Mount(m.kind, m.at, m.kind, 0, m.options); err != nil {
			panic(fmt.Errorf("mounting %s on %s: %w", m.kind, m.at, err))
		}
	}
}

// kernelOptions are the words of the kernel's command line.
func kernelOptions() map[string]string {
	options := make(map[string]string)
	for _, word := range strings.Fields(string(must.Get(os.ReadFile("/proc/cmdline")))) {
		key, value, _ := strings.Cut(word, "=")
		options[key] = must.Get(url.QueryUnescape(value))
	}
	return options
}
