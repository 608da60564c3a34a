package numa

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/sysfs"
)

// FreeMemoryBytes is the memory that the process can still allocate without swapping: the least of
// available memory, free memory of its NUMA nodes where it may not use all of them, and the rest of
// its control groups' limits and of its address space (RLIMIT_AS).
func FreeMemoryBytes(root string) (int64, error) {
	files, err := os.OpenRoot(root)
	if err != nil {
		return 0, fmt.Errorf("free memory is unknown: %w", err)
	}
	defer files.Close()
	t := tree{Tree: sysfs.Tree{FS: files.FS()}}
	_, free, known := t.memory()
	if !known {
		return 0, errors.New("free memory is unknown: proc/meminfo has neither MemAvailable nor MemFree; is proc mounted?")
	}
	if root == "/" {
		free = min(free, addressSpaceLeft())
	}
	return min(free, t.memoryLeft(), t.allowedMemory()), nil
}

// unlimited stands for any limit at least as large: control groups of version 1 have no word for
// no limit.
const unlimited = int64(1) << 62

// memory reads proc/meminfo; kernels before 3.14 have no MemAvailable.
func (t tree) memory() (total, available int64, known bool) {
	info := maps.Collect(t.Fields("proc/meminfo", ":"))
	total, _ = parseKiB(info["MemTotal"])
	for _, name := range []string{"MemAvailable", "MemFree"} {
		if available, known = parseKiB(info[name]); known {
			return total, available, true
		}
	}
	return total, 0, false
}

// nodeMemory reads a node's meminfo, whose lines begin with "Node 0 ". Inactive page cache counts as
// free, because the kernel drops it on demand.
func (t tree) nodeMemory(dir string) (total, free int64, known bool) {
	for line := range strings.Lines(t.Text(dir + "/meminfo")) {
		words := strings.Fields(line)
		if len(words) < 4 {
			continue
		}
		switch words[2] {
		case "MemTotal:":
			total, known = parseKiB(words[3])
		case "MemFree:", "Inactive(file):":
			n, _ := parseKiB(words[3])
			free += n
		}
	}
	return total, free, known
}

// allowedMemory is the free memory of the nodes that the process may use; unlimited where it may
// use all nodes with memory: the kernel allows none without.
func (t tree) allowedMemory() (free int64) {
	mems, all := t.allowedNodes(), true
	for _, id := range t.numbered(nodeDir, "node") {
		total, nodeFree, known := t.nodeMemory(path.Join(nodeDir, fmt.Sprint("node", id)))
		switch {
		case !mems.Contains(id):
			all = all && known && total == 0
		case !known:
			return unlimited
		default:
			free += nodeFree
		}
	}
	if all || len(mems) == 0 {
		return unlimited
	}
	return free
}

func parseKiB(text string) (bytes int64, known bool) {
	n, err := strconv.ParseInt(strings.TrimSuffix(text, " kB"), 10, 64)
	if err != nil || n < 0 || n > unlimited>>10 {
		return 0, false
	}
	return n << 10, true
}

// memoryLeft is the least memory that the limits of the process's control group and its parents
// leave. Inactive page cache counts as left, because the kernel drops it on demand.
func (t tree) memoryLeft() int64 {
	left := unlimited
	for _, g := range []struct {
		controller, limit, usage, inactive string
	}{
		{"", "memory.max", "memory.current", "inactive_file"},
		{"", "memory.high", "memory.current", "inactive_file"}, // beyond it the kernel slows the process down
		{"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
	} {
		for _, dir := range t.groups(g.controller) {
			limit, limited := t.number(path.Join(dir, g.limit))
			usage, known := t.number(path.Join(dir, g.usage))
			if !limited || !known || int64(limit) >= unlimited {
				continue
			}
			inactive, _ := strconv.ParseInt(maps.Collect(t.Fields(path.Join(dir, "memory.stat"), " "))[g.inactive], 10, 64)
			left = min(left, max(0, int64(limit)-int64(usage)+inactive))
		}
	}
	return left
}

// ThreadsLeft is the number of threads and processes that control groups still allow (pids.max);
// math.MaxInt: no limit is known.
func ThreadsLeft(root string) int {
	files, err := os.OpenRoot(root)
	if err != nil {
		return math.MaxInt
	}
	defer files.Close()
	return tree{Tree: sysfs.Tree{FS: files.FS()}}.threadsLeft()
}

func (t tree) threadsLeft() int {
	left := math.MaxInt
	for _, dir := range append(t.groups(""), t.groups("pids")...) {
		limit, limited := t.number(path.Join(dir, "pids.max"))
		if used, known := t.number(path.Join(dir, "pids.current")); limited && known {
			left = min(left, max(0, limit-used))
		}
	}
	return left
}

// quota is the CPU time that the process's control groups allow, in CPUs; 0: no limit.
func (t tree) quota() float64 {
	quota := 0.0
	limit := func(runtime, period string) {
		r, err := strconv.ParseFloat(runtime, 64)
		p, errPeriod := strconv.ParseFloat(period, 64)
		if err != nil || errPeriod != nil || r <= 0 || p <= 0 {
			return // "max" and -1 set none
		}
		if cpus := r / p; quota == 0 || cpus < quota {
			quota = cpus
		}
	}
	for _, dir := range t.groups("") {
		if words := strings.Fields(t.Text(path.Join(dir, "cpu.max"))); len(words) == 2 {
			limit(words[0], words[1])
		}
	}
	for _, dir := range t.groups("cpu") {
		limit(t.Text(path.Join(dir, "cpu.cfs_quota_us")), t.Text(path.Join(dir, "cpu.cfs_period_us")))
	}
	return quota
}

// cpuset reads the "cpus" or "mems" to which the process's control group confines it; nil: unknown.
func (t tree) cpuset(resource string) CPUSet {
	for _, g := range []struct {
		controller string
		files      []string
	}{
		{"", []string{"cpuset." + resource + ".effective"}},
		// Mounted as a file system of its own or with noprefix, it has names without a prefix.
		{"cpuset", []string{"cpuset.effective_" + resource, "cpuset." + resource, "effective_" + resource, resource}},
	} {
		for _, dir := range t.groups(g.controller) {
			for _, file := range g.files {
				if set := t.set(path.Join(dir, file), ""); len(set) > 0 {
					return set
				}
			}
		}
	}
	return nil
}

// groups lists the directories of the process's control group and its parents, innermost first.
// Version 2 has one hierarchy, whose controller is "".
func (t tree) groups(controller string) (dirs []string) {
	mount, inner := t.hierarchy(controller)
	if mount == "" {
		return nil
	}
	for p := path.Clean("/" + inner); ; p = path.Dir(p) {
		dirs = append(dirs, path.Join(mount, p))
		if p == "/" {
			return dirs
		}
	}
}

// hierarchy finds where a controller's groups are mounted, as a path in the tree, and the
// process's group below. A mount may show a part of the hierarchy alone, as in a container: the
// last one that shows the process's group counts, else the last of all.
func (t tree) hierarchy(controller string) (mount, inner string) {
	group, shown := t.group(controller), false
	for line := range strings.Lines(t.Text("proc/self/mountinfo")) {
		own, device, found := strings.Cut(line, " - ")
		at, kind := strings.Fields(own), strings.Fields(device)
		if !found || len(at) < 5 || len(kind) < 3 || !carries(kind[0], kind[2], controller) {
			continue
		}
		below, shows := strings.CutPrefix(group+"/", strings.TrimSuffix(at[3], "/")+"/")
		if !shows {
			below = ""
		}
		if shows || !shown {
			mount, inner, shown = strings.TrimPrefix(at[4], "/"), below, shows
		}
	}
	if mount != "" {
		return mount, inner
	}
	for line := range strings.Lines(t.Text("proc/mounts")) {
		if at := strings.Fields(line); len(at) >= 4 && carries(at[2], at[3], controller) {
			mount = strings.TrimPrefix(at[1], "/")
		}
	}
	return mount, group
}

// carries reports whether a mount, by its file system and options, has a controller.
func carries(kind, options, controller string) bool {
	if controller == "" {
		return kind == "cgroup2"
	}
	return kind == "cgroup" && slices.Contains(strings.Split(options, ","), controller) || kind == "cpuset" && controller == kind
}

// group is the process's group in a controller's hierarchy.
func (t tree) group(controller string) string {
	for line := range strings.Lines(t.Text("proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) == 3 && slices.Contains(strings.Split(parts[1], ","), controller) {
			return parts[2]
		}
	}
	if group := t.Text("proc/self/cpuset"); (controller == "" || controller == "cpuset") && group != "" { // of either version
		return group
	}
	return "/"
}
