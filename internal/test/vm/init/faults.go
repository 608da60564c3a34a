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

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/vm/machine"
	"github.com/taulop/taulop/params"
)

// short is a measurement of a few seconds.
var short = []string{taulop, "-json", "-ring", "-k", "1,2", "-launches", "6", "-time", "30s", "2", "8", "2"}

// refuses is a check that a command fails with these words.
func refuses(args []string, words ...string) func(guest) {
	return func(g guest) { g.execute(append([]string{taulop}, args...)...).refused(words...) }
}

// spared is a check that a confined command has a result and a matching warning.
func spared(warning string, what ...string) func(guest) {
	return func(g guest) {
		if doc := g.confine(what, short...).result(); !warns(doc, warning) {
			fail("want a warning like %q, got %q", warning, doc.Warnings)
		}
	}
}

// fullNode measures with intermediate buffers of 50 to 200 % of the node's free memory. From some size on
// taulop refuses, and at no size the kernel kills it.
func (g guest) fullNode() {
	free := g.topology().Machine.Nodes[1].FreeBytes
	for _, percent := range []int64{50, 80, 90, 95, 100, 110, 200} {
		const tau, segments = 2, 16
		size := fmt.Sprintf("%dB", free*percent/100/tau/segments)
		err := must.Try(func() {
			o := g.execute(taulop, "-json", "-ring", "-cpus", "0,1", "-membind", "1", "-k", "1", "-launches", "6", "-time", "2m", // busy hosts need it
				fmt.Sprint(segments), size, fmt.Sprint(tau)).clean()
			if percent == 50 {
				o.result()
			} else if percent == 200 || o.status != 0 {
				o.refused("node 1")
			}
		})
		if err != nil {
			fail("%d %% of the %d KB that are free on node 1: %w", percent, free>>10, err)
		}
	}
}

// huge checks that most of the buffers are in huge pages.
func (g guest) huge() {
	doc := g.measure("-ring", "-huge", "-off_cache", "-k", "1", "-launches", "6", "-time", "30s", "2", "8", "2")
	for _, w := range doc.Warnings {
		var user, intermediate int
		if n, _ := fmt.Sscanf(w, "huge pages held %d %% of the user buffers and %d %%", &user, &intermediate); n == 2 && user >= 70 && user <= 100 {
			return
		}
	}
	fail("warnings %q, want most of the user buffers in huge pages: they begin anywhere in one", doc.Warnings)
}

func (g guest) noSys() {
	var t topology
	g.confine([]string{"-without", "/sys"}, taulop, "topo", "-json").decode(&t)
	if t.PUs != g.machine.CPUs() || len(t.Machine.Unknown) == 0 {
		fail("%d CPUs, unknown: %q; want all CPUs and a word on what is missing", t.PUs, t.Machine.Unknown)
	}
	spared(`(?i)node.*unknown`, "-without", "/sys")(g)
}

func (g guest) oneCPU() {
	doc := g.confine([]string{"-cpus", "3"}, short...).result()
	if w := doc.Placement.Workers; doc.Concurrent || w[0].ID != 3 || w[1].ID != 3 {
		fail("concurrent: %v, want workers that take turns on CPU 3:\n%v", doc.Concurrent, doc.Placement)
	}
}

// offline measures with a CPU offline, which leaves a gap in the numbers.
func (g guest) offline() {
	const cpu1 = "/sys/devices/system/cpu/cpu1"
	must.Do(write(cpu1, "online", "0"))
	defer write(cpu1, "online", "1")
	t := g.topology()
	left := g.machine.CPUs() - 1
	if t.PUs != left || t.Machine.Allowed.Contains(1) {
		fail("%d CPUs %v, want %d without CPU 1", t.PUs, t.Machine.Allowed, left)
	}
	doc := g.measure("-ring", "-k", "1", "-launches", "6", "-time", "60s", "2", "8", "2") // a busy host needs that much
	for _, w := range doc.Placement.Workers {
		if w.ID == 1 {
			fail("a worker on the CPU that is offline:\n%v", doc.Placement)
		}
	}
	refuses([]string{"-cpus", "0,1", "2", "8", "2"}, "CPU 1", "offline")(g)
}

// starved matches the Go runtime's errors if it cannot map its own memory, or a thread's, which no program
// can catch.
var starved = regexp.MustCompile(`(?m)^fatal error: (newosproc|failed to (allocate|reserve) |.*(out of memory|cannot allocate memory|cannot map pages|address space))`)

// address measures with growing address space, from the least with which taulop starts to the least with a
// result. In between mappings fail.
func (g guest) address() {
	const step, most = 16 << 20, 4 << 30
	refusals := 0
	for bytes := step; bytes < most; bytes += step {
		less := []string{"-address", fmt.Sprint(bytes)}
		if o, err := g.start(nil, confining(less, []string{taulop, "-version"})...); err != nil || o.status != 0 {
			if err == nil && must.Try(func() { o.refused("more of memory") }) == nil { // else the Go runtime does not start in this
				refusals++
			}
			continue
		}
		o, err := g.start(nil, confining(less, []string{taulop, "-json", "-ring", "-off_cache", "-k", "1", "-launches", "6", "-time", "20s", "2", "8", "4"})...)
		if starved.MatchString(o.errOut) || o.status == 3 {
			continue // nor, now and then, in a little more, or its launches do not
		}
		if err == nil {
			err = must.Try(func() {
				if o.clean(); o.status != 0 {
					o.refused("memory")
				}
			})
		}
		if err != nil {
			fail("%d MB of address space: %w", bytes>>20, err)
		}
		if o.status == 0 {
			break
		}
		refusals++
	}
	if refusals == 0 {
		fail("taulop never ran out of address space: it measured in as little as it started in")
	}
}

// A cpusets is a version of control groups.
type cpusets struct {
	kind, options string
	prepare       map[string]string // text by file, written before a group is made
}

var (
	version1 = cpusets{kind: "cgroup", options: "cpuset"}
	version2 = cpusets{kind: "cgroup2", prepare: map[string]string{"cgroup.subtree_control": "+cpuset"}}
)

const groups = "/sys/fs/cgroup"

// group makes a group with all CPUs and nodes of the machine.
func (v cpusets) group(m machine.Machine) (dir string, remove func()) {
	must.Do(unix.Mount(v.kind, groups, v.kind, 0, v.options))
	dir = filepath.Join(groups, "shrinking")
	remove = func() {
		os.Remove(dir)
		unix.Unmount(groups, unix.MNT_DETACH)
	}
	var err error
	for file, text := range v.prepare {
		err = errors.Join(err, write(groups, file, text))
	}
	err = errors.Join(err, os.Mkdir(dir, 0o755),
		write(dir, "cpuset.cpus", fmt.Sprintf("0-%d", m.CPUs()-1)),
		write(dir, "cpuset.mems", fmt.Sprintf("0-%d", len(m.Nodes)-1)))
	if err != nil {
		remove()
		panic(err)
	}
	return dir, remove
}

// write writes to a file of the kernel.
func write(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0)
}

// shrinking removes CPUs, then nodes, from the control group of a running measurement.
func shrinking(v cpusets) func(guest) {
	return func(g guest) {
		dir, remove := v.group(g.machine)
		defer remove()
		command := []string{"/init", "confined", "-group", dir}
		cpus := must.Try(func() { g.disturbed(command, func() error { return write(dir, "cpuset.cpus", "0") }, "cpuset") })
		must.Do(write(dir, "cpuset.cpus", fmt.Sprintf("0-%d", g.machine.CPUs()-1)))
		nodes := must.Try(func() { g.disturbed(command, func() error { return write(dir, "cpuset.mems", "0") }, "node 1") })
		must.Do(errors.Join(cpus, nodes))
	}
}

// unplugging takes a CPU of a running measurement offline.
func (g guest) unplugging() {
	last := fmt.Sprintf("/sys/devices/system/cpu/cpu%d", g.machine.CPUs()-1)
	defer write(last, "online", "1")
	cpus := fmt.Sprintf("0-%d", g.machine.CPUs()-1)
	g.disturbed([]string{"/init", "confined", "-cpus", cpus}, func() error { return write(last, "online", "0") }, "cpuset")
}

// disturbed measures long messages between the first and the last CPU, which are on two nodes, and disturbs
// that after two seconds. The measurement must end in time, even if the workers now take turns, with an
// error or a warning that contains the word.
func (g guest) disturbed(command []string, disturb func() error, word string) {
	var failed error
	during := func() {
		time.Sleep(2 * time.Second)
		failed = disturb()
	}
	// The kernel may take ten seconds to move the pages of a process that uses them.
	ctx, cancel := context.WithTimeout(g.Context, 60*time.Second)
	defer cancel()
	g.Context = ctx
	o, err := g.start(during, append(command,
		taulop, "-json", "-ring", "-cpus", fmt.Sprintf("0,%d", g.machine.CPUs()-1), "-k", "1,2048", "-time", "15s", "2", "64B", "2")...)
	if must.Do(errors.Join(failed, err)); o.clean().status != 0 {
		o.refused(word)
	} else if doc := o.result(); !warns(doc, word) {
		fail("a result without a word on %q, only %q", word, doc.Warnings)
	}
}

// forbidden measures without process_vm_readv: cma fails with a remedy, and a sweep leaves out single
// copies with a warning.
func (g guest) forbidden() {
	without := []string{"-nofetch", "-cpus=0,1"}
	g.confine(without, taulop, "cma", "-time", "30s").refused("process_vm_readv", "ptrace_scope")
	const path = "/nofetch.json"
	o := g.confine(without, taulop, "sweep", "-with", "cma", "-o", path, "-setup", "ring", "-placement", "local", "-cache", "in",
		"-tau", "2", "-m", "8K", "-gamma=false", "-launches", "6", "-time", "40s").passed()
	f := must.Get(params.ReadFile(path))
	if told := strings.Join(f.Warnings, "\n"); len(f.Cells) == 0 || !strings.Contains(told, "single copies (cma) are not measured") {
		fail("%d cells, warnings %q: %v", len(f.Cells), f.Warnings, o)
	}
}
