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

// short is a measurement of a few seconds for the faults.
var short = []string{taulop, "-json", "-ring", "-k", "1,2", "-launches", "6", "-time", "30s", "2", "8", "2"}

// refuses is a check that a command is refused with these words.
func refuses(args []string, words ...string) func(guest) {
	return func(g guest) { g.execute(append([]string{taulop}, args...)...).refused(words...) }
}

// spared wants a result in spite of what is taken away, with a warning that matches.
func spared(warning string, what ...string) func(guest) {
	return func(g guest) {
		if doc := g.confine(what, short...).result(); !warns(doc, warning) {
			fail("want a warning like %q, got %q", warning, doc.Warnings)
		}
	}
}

// fullNode asks for intermediate buffers of half to double of what is free on
// the node: at some point there is a refusal and no result any more, and nowhere
// does the kernel kill a process that asked for too much.
func (g guest) fullNode() {
	free := g.topology().Machine.Nodes[1].FreeBytes
	for _, percent := range []int64{50, 80, 90, 95, 100, 110, 200} {
		const tau, segments = 2, 16
		size := fmt.Sprintf("%dB", free*percent/100/tau/segments)
		err := attempt(func() {
			o := g.execute(taulop, "-json", "-ring", "-cpus", "0,1", "-membind", "1", "-k", "1", "-launches", "6", "-time", "20s",
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

// huge wants anonymous memory in huge pages, as the kernel gives them on demand.
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

// offline takes a CPU away, which leaves a hole in the numbers.
func (g guest) offline() {
	const cpu1 = "/sys/devices/system/cpu/cpu1"
	must.Do(write(cpu1, "online", "0"))
	defer write(cpu1, "online", "1")
	t := g.topology()
	left := g.machine.CPUs() - 1
	if t.PUs != left || t.Machine.Allowed.Contains(1) {
		fail("%d CPUs %v, want %d without CPU 1", t.PUs, t.Machine.Allowed, left)
	}
	doc := g.measure("-ring", "-k", "1", "-launches", "6", "-time", "30s", "2", "8", "3")
	for _, w := range doc.Placement.Workers {
		if w.ID == 1 {
			fail("a worker on the CPU that is offline:\n%v", doc.Placement)
		}
	}
	refuses([]string{"-cpus", "0,1", "2", "8", "2"}, "CPU 1", "offline")(g)
}

// starved is what the Go runtime says when its own memory, or a thread's, cannot be mapped:
// no program can catch that.
var starved = regexp.MustCompile(`(?m)^fatal error: (newosproc|failed to (allocate|reserve) |.*(out of memory|cannot allocate memory|cannot map pages|address space))`)

// address leaves taulop from as little address space as it starts in to as much
// as it needs: in between a mapping of its fails.
func (g guest) address() {
	const step, most = 16 << 20, 4 << 30
	refusals := 0
	for bytes := step; bytes < most; bytes += step {
		less := []string{"-address", fmt.Sprint(bytes)}
		if o, err := g.start(nil, confining(less, []string{taulop, "-version"})...); err != nil || o.status != 0 {
			if err == nil && attempt(func() { o.refused("more of memory") }) == nil { // else the Go runtime does not start in this
				refusals++
			}
			continue
		}
		o, err := g.start(nil, confining(less, []string{taulop, "-json", "-ring", "-off_cache", "-k", "1", "-launches", "6", "-time", "20s", "2", "8", "4"})...)
		if starved.MatchString(o.errOut) || o.status == 3 {
			continue // nor, now and then, in a little more, or its launches do not
		}
		if err == nil {
			err = attempt(func() {
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
	prepare       map[string]string // what to write to which file before a group is made
}

var (
	version1 = cpusets{kind: "cgroup", options: "cpuset"}
	version2 = cpusets{kind: "cgroup2", prepare: map[string]string{"cgroup.subtree_control": "+cpuset"}}
)

const groups = "/sys/fs/cgroup"

// group makes a group that has all CPUs and nodes of the machine.
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

// write writes to a file that the kernel has made.
func write(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0)
}

// shrinking takes CPUs, then nodes, away from the control group of a
// measurement that is under way.
func shrinking(v cpusets) func(guest) {
	return func(g guest) {
		dir, remove := v.group(g.machine)
		defer remove()
		command := []string{"/init", "confined", "-group", dir}
		cpus := attempt(func() { g.disturbed(command, func() error { return write(dir, "cpuset.cpus", "0") }, "cpuset") })
		must.Do(write(dir, "cpuset.cpus", fmt.Sprintf("0-%d", g.machine.CPUs()-1)))
		nodes := attempt(func() { g.disturbed(command, func() error { return write(dir, "cpuset.mems", "0") }, "node 1") })
		must.Do(errors.Join(cpus, nodes))
	}
}

// unplugging takes a CPU away from a measurement that is under way.
func (g guest) unplugging() {
	last := fmt.Sprintf("/sys/devices/system/cpu/cpu%d", g.machine.CPUs()-1)
	defer write(last, "online", "1")
	cpus := fmt.Sprintf("0-%d", g.machine.CPUs()-1)
	g.disturbed([]string{"/init", "confined", "-cpus", cpus}, func() error { return write(last, "online", "0") }, "cpuset")
}

// disturbed measures long messages on the first and the last CPU, each of them
// on a node of its own, and disturbs that after a while. It must end in time,
// also if the workers have to take turns now, and either refuse or say what
// spoiled it, with the word in it.
func (g guest) disturbed(command []string, disturb func() error, word string) {
	var failed error
	during := func() {
		time.Sleep(2 * time.Second)
		failed = disturb()
	}
	// The kernel alone may take ten seconds to move the pages of a process that
	// is busy with them.
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

// forbidden has the kernel refuse process_vm_readv: one sentence says what to do, and a
// sweep goes on without single copies, and says so.
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
