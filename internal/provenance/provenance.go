// Package provenance records the circumstances of a measurement, and warns of those that make it
// unreliable.
//
// Its opinion: unknown facts stay empty and are listed; nothing is guessed. A warning is a value that
// is stored with the result and has a remedy.
package provenance

import (
	"cmp"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/sysfs"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Provenance is a parameter file's provenance.
type Provenance = params.Provenance

// Read reads the machine from the directories sys and proc below root, "/" for the running machine. It
// never fails; facts that cannot be read are unknown.
func Read(root string, m *numa.Machine) Provenance {
	p := Provenance{
		Time:     time.Now().UTC().Format(time.RFC3339),
		Online:   m.Online(),
		Allowed:  m.Allowed,
		CPUQuota: m.Quota,
		Levels:   m.Levels(m.Allowed),
		Go:       runtime.Version(),
		Taulop:   Version(),
		Command:  os.Args,
		Unknown:  slices.Clone(m.Unknown),
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return p
	}
	defer dir.Close()
	t := tree{sysfs.Tree{FS: dir.FS()}}
	readSystem(&p, t)
	readCPUs(&p, t, m)
	readMemory(&p, t)
	p.Memory = modules(t, m)
	if stolen, total, known := t.steal(); known && total > 0 {
		p.StealShare = new(float64(stolen) / float64(total))
	}
	p.Load = t.loads()
	identify(&p, root)
	shorten(&p)
	listUnknown(&p)
	return p
}

// shorten bounds names: the tree is not trusted.
func shorten(p *Provenance) {
	for _, fact := range []*string{&p.Hostname, &p.CPUModel, &p.Vendor, &p.Microcode, &p.Product, &p.Board, &p.BIOS,
		&p.Hypervisor, &p.Kernel, &p.OS, &p.Arch, &p.Clocksource, &p.HugePages} {
		*fact = printable.Part(words(*fact))
	}
	for i, governor := range p.Governors {
		p.Governors[i] = printable.Part(words(governor))
	}
}

// Version is the version in the program: a tag, or Go's pseudo-version of a commit.
func Version() string {
	build, ok := debug.ReadBuildInfo()
	if !ok || build.Main.Version == "" {
		return "unknown"
	}
	version := build.Main.Version
	// go build without a version writes (devel).
	if commit := Commit(); version == "(devel)" && commit != "" {
		version += " " + commit
	}
	return version
}

// Commit is the commit of the checkout from which the program was built; "" for a module version.
func Commit() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	settings := lists.ToMap(build.Settings, func(s debug.BuildSetting) (string, string) { return s.Key, s.Value })
	commit := settings["vcs.revision"]
	commit = commit[:min(12, len(commit))]
	return commit + printable.If(commit != "" && settings["vcs.modified"] == "true", " modified")
}

func readSystem(p *Provenance, t tree) {
	p.Hostname = t.Text("proc/sys/kernel/hostname")
	p.Kernel = t.Text("proc/sys/kernel/osrelease")
	if words := strings.Fields(t.Text("proc/version")); len(words) >= 3 && words[0] == "Linux" {
		p.OS = "linux"
		p.Kernel = cmp.Or(p.Kernel, words[2])
	}
	p.Arch = t.Text("proc/sys/kernel/arch")
	p.Clocksource = t.Text("sys/devices/system/clocksource/clocksource0/current_clocksource")
}

// readMemory reads the memory size and settings of huge pages and NUMA balancing.
func readMemory(p *Provenance, t tree) {
	for key, value := range t.Fields("proc/meminfo", ":") {
		if kib, found := strings.CutSuffix(value, " kB"); found && key == "MemTotal" {
			n, _ := strconv.ParseInt(kib, 10, 64)
			p.MemoryBytes = n << 10
		}
	}
	// The current choice is in brackets: always [madvise] never.
	if _, choice, found := strings.Cut(t.Text("sys/kernel/mm/transparent_hugepage/enabled"), "["); found {
		p.HugePages, _, _ = strings.Cut(choice, "]")
	}
	switch t.Text("proc/sys/kernel/numa_balancing") {
	case "0":
		p.NUMABalancing = "off"
	case "":
	default:
		p.NUMABalancing = "on"
	}
}

// loads are the averages of 1, 5 and 15 minutes.
func (t tree) loads() (loads []float64) {
	words := strings.Fields(t.Text("proc/loadavg"))
	for _, word := range words[:min(3, len(words))] {
		if load, err := strconv.ParseFloat(word, 64); err == nil {
			loads = append(loads, load)
		}
	}
	return loads
}

// listUnknown names unknown facts that influence measurements.
func listUnknown(p *Provenance) {
	var missing []string
	for _, fact := range []struct {
		name    string
		unknown bool
	}{
		{"CPU model", p.CPUModel == ""},
		{"frequency governor", len(p.Governors) == 0},
		{"turbo", p.Turbo == ""},
		{"SMT", p.SMT == ""},
		{"clock source", p.Clocksource == ""},
		{"steal time", p.StealShare == nil},
		{"load", len(p.Load) == 0},
	} {
		if fact.unknown {
			missing = append(missing, fact.name)
		}
	}
	if len(missing) > 0 {
		p.Unknown = append(p.Unknown, "the machine does not say its "+strings.Join(missing, ", ")+": find out in the firmware or on the host whether that disturbs")
	}
}

// A tree contains the kernel's directories sys and proc.
type tree struct{ sysfs.Tree }
