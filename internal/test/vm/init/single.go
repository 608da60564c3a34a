//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// two are CPUs that workers of software make way for each other on.
var two = []string{"-cpus=0,1"}

// single measures single copies between two processes, every byte of which is checked,
// with buffers in all states.
func (g guest) single(ctx context.Context) error {
	o, err := g.confine(ctx, two, taulop, "cma", "-json", "-m", "5001B", "-launches", "6", "-time", "5m")
	if err == nil {
		err = passed(o, o.clean())
	}
	if err != nil {
		return err
	}
	f, err := params.Read(strings.NewReader(o.out), "cma")
	if err != nil {
		return err
	}
	has := make(map[string]bool)
	for _, c := range f.Cells {
		if !(c.Time.Center > 0) {
			return fmt.Errorf("%v takes %v", c.Key, c.Time)
		}
		if c.Kind == params.TransferCell {
			has[fmt.Sprintf("%s %d %v %v", c.Setup, c.Tau, c.Buffers, c.OffCache)] = true
		}
	}
	for _, setup := range []string{"ping 1", "sendrecv 2"} {
		for _, of := range []string{"rewritten false", "unchanged false", "copied false", "rewritten true", "copied true"} {
			if cell := setup + " " + of; !has[cell] {
				return fmt.Errorf("no cell %q among %v", cell, has)
			}
		}
	}
	return nil
}

// workerDies kills a worker's process in the middle, which ends the run with its name. One that
// has only tried what is allowed lives shorter, and one that was about to end is missed by
// nobody: so those die that have been there for a while, until none is left for long.
func (g guest) workerDies(ctx context.Context) error {
	const poll = 500 * time.Millisecond
	var killed []string
	during := func() {
		var before []int
		for gone := 0; gone < 20 && ctx.Err() == nil; time.Sleep(poll) {
			all := workers()
			for _, id := range all {
				if slices.Contains(before, id) {
					syscall.Kill(id, syscall.SIGKILL)
					killed = append(killed, fmt.Sprintf("process %d, died", id))
					break
				}
			}
			if gone++; len(all) > 0 || len(killed) == 0 {
				gone = 0
			}
			before = all
		}
	}
	o, err := g.execute(ctx, during, "/init", "confined", two[0], taulop, "cma", "-quiet", "-m", "64K", "-tau", "2", "-time", "5m")
	if err != nil {
		return err
	}
	if err := o.refused("worker ", "killed"); err != nil {
		return err
	}
	named := func(process string) bool { return strings.Contains(o.complaints()[0], process) }
	if !slices.ContainsFunc(killed, named) {
		return fmt.Errorf("want one of %q in the sentence: %v", killed, o)
	}
	return nil
}

// workers are the processes of workers.
func workers() (ids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		line, err := os.ReadFile(file)
		if words := bytes.Split(bytes.TrimRight(line, "\x00"), []byte{0}); err == nil && len(words) == 2 && string(words[1]) == setups.WorkerCommand {
			id, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			ids = append(ids, id)
		}
	}
	return ids
}

// forbidden has the kernel refuse process_vm_readv: one sentence says what to do, and a
// sweep goes on without single copies, and says so.
func (g guest) forbidden(ctx context.Context) error {
	without := append([]string{"-nofetch"}, two...)
	o, err := g.confine(ctx, without, taulop, "cma", "-time", "30s")
	if err != nil {
		return err
	}
	if err := o.refused("process_vm_readv", "ptrace_scope"); err != nil {
		return err
	}
	const path = "/nofetch.json"
	o, err = g.confine(ctx, without, taulop, "sweep", "-with", "cma", "-o", path, "-setup", "ring", "-placement", "local", "-cache", "in",
		"-tau", "2", "-m", "8K", "-gamma=false", "-launches", "6", "-time", "40s")
	if err != nil {
		return err
	}
	f, err := params.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w: %v", err, o)
	}
	if told := strings.Join(f.Warnings, "\n"); o.status != 0 || len(f.Cells) == 0 || !strings.Contains(told, "single copies (cma) are not measured") {
		return fmt.Errorf("%d cells, warnings %q: %v", len(f.Cells), f.Warnings, o)
	}
	return nil
}
