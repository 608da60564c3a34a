//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/test/vm/machine"
	"github.com/taulop/taulop/params"
)

// short is a measurement of a few seconds for the faults.
var short = []string{taulop, "-json", "-ring", "-k", "1,2", "-launches", "6", "-time", "30s", "2", "8", "2"}

func (g guest) noSuchNode(ctx context.Context) error {
	o, err := g.execute(ctx, nil, taulop, "-membind", "9", "2", "8", "2")
	if err != nil {
		return err
	}
	return o.refused("node 9")
}

func (g guest) emptyNode(ctx context.Context) error {
	o, err := g.execute(ctx, nil, taulop, "-membind", "1", "2", "8", "2")
	if err != nil {
		return err
	}
	return o.refused("node 1", "memory")
}

// fullNode asks for intermediate buffers of half to double of what is free on
// the node: at some point there is a refusal and no result any more, and nowhere
// does the kernel kill a process that asked for too much.
func (g guest) fullNode(ctx context.Context) error {
	t, err := g.topology(ctx)
	if err != nil {
		return err
	}
	free := t.Machine.Nodes[1].FreeBytes
	for _, percent := range []int64{50, 80, 90, 95, 100, 110, 200} {
		const tau, segments = 2, 16
		size := fmt.Sprintf("%dB", free*percent/100/tau/segments)
		o, err := g.execute(ctx, nil, taulop, "-json", "-ring", "-cpus", "0,1", "-membind", "1", "-k", "1", "-launches", "6", "-time", "20s",
			fmt.Sprint(segments), size, fmt.Sprint(tau))
		if err == nil {
			err = o.clean()
		}
		switch {
		case err != nil:
		case percent == 50:
			_, err = o.result()
		case percent == 200 || o.status != 0:
			err = o.refused("node 1")
		}
		if err != nil {
			return fmt.Errorf("%d %% of the %d KB that are free on node 1: %w", percent, free>>10, err)
		}
	}
	return nil
}

// huge wants anonymous memory in huge pages, as the kernel gives them on demand.
func (g guest) huge(ctx context.Context) error {
	doc, err := g.measure(ctx, "-ring", "-huge", "-off_cache", "-k", "1", "-launches", "6", "-time", "30s", "2", "8", "2")
	if err != nil {
		return err
	}
	for _, w := range doc.Warnings {
		var user, intermediate int
		if n, _ := fmt.Sscanf(w, "huge pages held %d %% of the user buffers and %d %%", &user, &intermediate); n == 2 && user >= 70 && user <= 100 {
			return nil
		}
	}
	return fmt.Errorf("warnings %q, want most of the user buffers in huge pages: they begin anywhere in one", doc.Warnings)
}

func (g guest) noSys(ctx context.Context) error {
	o, err := g.confine(ctx, []string{"-without", "/sys"}, taulop, "topo", "-json")
	if err != nil {
		return err
	}
	var t topology
	if err := o.decode(&t); err != nil {
		return err
	}
	if t.PUs != g.machine.CPUs() || len(t.Machine.Unknown) == 0 {
		return fmt.Errorf("%d CPUs, unknown: %q; want all CPUs and a word on what is missing", t.PUs, t.Machine.Unknown)
	}
	return g.confinedResult(ctx, []string{"-without", "/sys"}, `(?i)node.*unknown`)
}

// noProc: without /proc a program cannot tell what file it is, and taulop not
// run itself again.
func (g guest) noProc(ctx context.Context) error {
	return g.confinedResult(ctx, []string{"-without", "/proc"}, `unknown`)
}

func (g guest) unprivileged(ctx context.Context) error {
	return g.confinedResult(ctx, []string{"-user", "65534"}, "")
}

func (g guest) noPolicy(ctx context.Context) error {
	return g.confinedResult(ctx, []string{"-nopolicy"}, `does not let this process`)
}

// confinedResult wants a result in spite of what is taken away, with a warning
// that matches.
func (g guest) confinedResult(ctx context.Context, what []string, warning string) error {
	o, err := g.confine(ctx, what, short...)
	if err != nil {
		return err
	}
	doc, err := o.result()
	if err != nil {
		return err
	}
	if !warns(doc, warning) {
		return fmt.Errorf("want a warning like %q, got %q", warning, doc.Warnings)
	}
	return nil
}

func warns(doc report.Series, like string) bool {
	return regexp.MustCompile(like).MatchString(strings.Join(doc.Warnings, "\n"))
}

func (g guest) oneCPU(ctx context.Context) error {
	o, err := g.confine(ctx, []string{"-cpus", "3"}, short...)
	if err != nil {
		return err
	}
	doc, err := o.result()
	if err != nil {
		return err
	}
	if w := doc.Placement.Workers; doc.Concurrent || w[0].ID != 3 || w[1].ID != 3 {
		return fmt.Errorf("concurrent: %v, want workers that take turns on CPU 3:\n%v", doc.Concurrent, doc.Placement)
	}
	return nil
}

// offline takes a CPU away, which leaves a hole in the numbers.
func (g guest) offline(ctx context.Context) error {
	const cpu1 = "/sys/devices/system/cpu/cpu1"
	if err := write(cpu1, "online", "0"); err != nil {
		return err
	}
	defer write(cpu1, "online", "1")
	t, err := g.topology(ctx)
	if err != nil {
		return err
	}
	left := g.machine.CPUs() - 1
	if t.PUs != left || t.Machine.Allowed.Contains(1) {
		return fmt.Errorf("%d CPUs %v, want %d without CPU 1", t.PUs, t.Machine.Allowed, left)
	}
	doc, err := g.measure(ctx, "-ring", "-k", "1", "-launches", "6", "-time", "30s", "2", "8", "3")
	if err != nil {
		return err
	}
	for _, w := range doc.Placement.Workers {
		if w.ID == 1 {
			return fmt.Errorf("a worker on the CPU that is offline:\n%v", doc.Placement)
		}
	}
	o, err := g.execute(ctx, nil, taulop, "-cpus", "0,1", "2", "8", "2")
	if err != nil {
		return err
	}
	return o.refused("CPU 1", "offline")
}

// starved is what the Go runtime says when its own memory, or a thread's, cannot be mapped:
// no program can catch that.
var starved = regexp.MustCompile(`(?m)^fatal error: (newosproc|failed to (allocate|reserve) |.*(out of memory|cannot allocate memory|cannot map pages|address space))`)

// address leaves taulop from as little address space as it starts in to as much
// as it needs: in between a mapping of its fails.
func (g guest) address(ctx context.Context) error {
	const step, most = 16 << 20, 4 << 30
	refusals := 0
	for bytes := step; bytes < most; bytes += step {
		less := []string{"-address", fmt.Sprint(bytes)}
		if o, err := g.confine(ctx, less, taulop, "-version"); err != nil || o.status != 0 {
			if err == nil && o.refused("more of memory") == nil { // else the Go runtime does not start in this
				refusals++
			}
			continue
		}
		o, err := g.confine(ctx, less, taulop, "-json", "-ring", "-off_cache", "-k", "1", "-launches", "6", "-time", "20s", "2", "8", "4")
		if starved.MatchString(o.errOut) || o.status == 2 && strings.Contains(o.errOut, "within -time") {
			continue // nor, now and then, in a little more, or its launches do not
		}
		if err == nil {
			err = o.clean()
		}
		if err == nil && o.status == 0 {
			break
		}
		if err == nil {
			err = o.refused("memory")
		}
		if err != nil {
			return fmt.Errorf("%d MB of address space: %w", bytes>>20, err)
		}
		refusals++
	}
	if refusals == 0 {
		return errors.New("taulop never ran out of address space: it measured in as little as it started in")
	}
	return nil
}

// A cpusets is a version of control groups.
type cpusets struct {
	kind, options string
	prepare       map[string]string // what to write to which file before a group is made
}

var (
	version1 = cpusets{kind: "cgroup", options: "cpuset"}
	version2 = cpusets{kind: "cgroup2", prepare: map[string]string{"cgroup.subtree_control": "+cpuset"}}
)

const groups = "/sys/fs/cgroup"

// group makes a group that has all CPUs and nodes of the machine.
func (v cpusets) group(m machine.Machine) (dir string, remove func(), err error) {
	if err := unix.Mount(v.kind, groups, v.kind, 0, v.options); err != nil {
		return "", nil, fmt.Errorf("mounting %s: %w", v.kind, err)
	}
	dir = filepath.Join(groups, "shrinking")
	remove = func() {
		os.Remove(dir)
		unix.Unmount(groups, unix.MNT_DETACH)
	}
	for file, text := range v.prepare {
		err = errors.Join(err, write(groups, file, text))
	}
	err = errors.Join(err, os.Mkdir(dir, 0o755),
		write(dir, "cpuset.cpus", fmt.Sprintf("0-%d", m.CPUs()-1)),
		write(dir, "cpuset.mems", fmt.Sprintf("0-%d", len(m.Nodes)-1)))
	if err != nil {
		remove()
	}
	return dir, remove, err
}

// write writes to a file that the kernel has made.
func write(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0)
}

// shrinking takes CPUs, then nodes, away from the control group of a
// measurement that is under way.
func shrinking(v cpusets) func(guest, context.Context) error {
	return func(g guest, ctx context.Context) error {
		dir, remove, err := v.group(g.machine)
		if err != nil {
			return err
		}
		defer remove()
		command := []string{"/init", "confined", "-group", dir}
		cpus := g.disturbed(ctx, command, func() error { return write(dir, "cpuset.cpus", "0") }, "cpuset")
		if cpus != nil {
			cpus = fmt.Errorf("CPUs: %w", cpus)
		}
		if err := write(dir, "cpuset.cpus", fmt.Sprintf("0-%d", g.machine.CPUs()-1)); err != nil {
			return err
		}
		nodes := g.disturbed(ctx, command, func() error { return write(dir, "cpuset.mems", "0") }, "node 1")
		if nodes != nil {
			nodes = fmt.Errorf("nodes: %w", nodes)
		}
		return errors.Join(cpus, nodes)
	}
}

// unplugging takes a CPU away from a measurement that is under way.
func (g guest) unplugging(ctx context.Context) error {
	last := fmt.Sprintf("/sys/devices/system/cpu/cpu%d", g.machine.CPUs()-1)
	defer write(last, "online", "1")
	cpus := fmt.Sprintf("0-%d", g.machine.CPUs()-1)
	return g.disturbed(ctx, []string{"/init", "confined", "-cpus", cpus}, func() error { return write(last, "online", "0") }, "cpuset")
}

// disturbed measures long messages on the first and the last CPU, each of them
// on a node of its own, and disturbs that after a while. It must end in time,
// also if the workers have to take turns now, and either refuse or say what
// spoiled it, with the word in it.
func (g guest) disturbed(ctx context.Context, command []string, disturb func() error, word string) error {
	var failed error
	during := func() {
		time.Sleep(2 * time.Second)
		failed = disturb()
	}
	// The kernel alone may take ten seconds to move the pages of a process that
	// is busy with them.
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	o, err := g.execute(ctx, during, append(command,
		taulop, "-json", "-ring", "-cpus", fmt.Sprintf("0,%d", g.machine.CPUs()-1), "-k", "1,2048", "-time", "15s", "2", "64B", "2")...)
	if err := errors.Join(failed, err); err != nil {
		return err
	}
	if err := o.clean(); err != nil {
		return err
	}
	if o.status != 0 {
		return o.refused(word)
	}
	doc, err := o.result()
	if err == nil && !warns(doc, word) {
		err = fmt.Errorf("a result without a word on %q, only %q", word, doc.Warnings)
	}
	return err
}

// forbidden has the kernel refuse process_vm_readv: one sentence says what to do, and a
// sweep goes on without single copies, and says so.
func (g guest) forbidden(ctx context.Context) error {
	without := []string{"-nofetch", "-cpus=0,1"}
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
