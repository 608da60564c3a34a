// Package provenance says under what circumstances a number was measured, and
// which of them speak against trusting it.
//
// Its opinion: what the machine does not say stays empty and is listed as
// unknown; nothing is guessed. A warning is a value that travels with the
// number, and says what to do.
package provenance

import (
	"bufio"
	"io"
	"io/fs"
	"iter"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/reduce"
)

// Provenance is what a parameter file has of it.
type Provenance = params.Provenance

// Read reads the machine from the sys and proc directories below root: "/" for
// the one that the program runs on. It never fails, at worst it knows nothing.
func Read(root string, m *numa.Machine) Provenance {
	p := Provenance{
		Time:      time.Now().UTC().Format(time.RFC3339),
		Online:    m.Online(),
		Allowed:   m.Allowed,
		CPUQuota:  numa.CPUQuota(root),
		Levels:    m.Levels(m.Allowed),
		Go:        runtime.Version(),
		Taulop:    Version(),
		Reduction: reduce.Instructions(),
		Command:   os.Args,
		Unknown:   slices.Clone(m.Unknown),
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return p
	}
	defer dir.Close()
	t := tree{dir.FS()}
	readSystem(&p, t)
	readCPUs(&p, t, m)
	readMemory(&p, t)
	readActivity(&p, t)
	identify(&p, root)
	shorten(&p)
	listUnknown(&p)
	return p
}

// shorten keeps what should be a name from being a book: a tree may be anybody's.
func shorten(p *Provenance) {
	for _, fact := range []*string{&p.Hostname, &p.CPUModel, &p.Vendor, &p.Microcode, &p.Product, &p.Board, &p.BIOS,
		&p.Hypervisor, &p.Kernel, &p.OS, &p.Arch, &p.Clocksource, &p.HugePages} {
		*fact = printable.Part(words(*fact))
	}
	for i, governor := range p.Governors {
		p.Governors[i] = printable.Part(words(governor))
	}
}

// Version is the program's, as far as it was built in.
func Version() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := build.Main.Version
	settings := make(map[string]string)
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	// A plain go build of a checkout is (devel); its commit says more.
	if commit := settings["vcs.revision"]; version == "(devel)" && commit != "" {
		version += " " + commit[:min(12, len(commit))]
		if settings["vcs.modified"] == "true" {
			version += " modified"
		}
	}
	if version == "" {
		return "unknown"
	}
	return version
}

func readSystem(p *Provenance, t tree) {
	p.Hostname = t.text("proc/sys/kernel/hostname")
	p.Kernel = t.text("proc/sys/kernel/osrelease")
	if words := strings.Fields(t.text("proc/version")); len(words) >= 3 && words[0] == "Linux" {
		p.OS = "linux"
		if p.Kernel == "" {
			p.Kernel = words[2]
		}
	}
	p.Arch = t.text("proc/sys/kernel/arch")
	p.Clocksource = t.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
}

// readMemory reads what decides how memory is mapped and where it stays.
func readMemory(p *Provenance, t tree) {
	if kib, found := strings.CutSuffix(t.field("proc/meminfo", "MemTotal"), " kB"); found {
		n, _ := strconv.ParseInt(kib, 10, 64)
		p.MemoryBytes = n << 10
	}
	// The choice in force is the one in brackets: always [madvise] never.
	if _, choice, found := strings.Cut(t.text("sys/kernel/mm/transparent_hugepage/enabled"), "["); found {
		p.HugePages, _, _ = strings.Cut(choice, "]")
	}
	switch t.text("proc/sys/kernel/numa_balancing") {
	case "0":
		p.NUMABalancing = "off"
	case "":
	default:
		p.NUMABalancing = "on"
	}
}

func readActivity(p *Provenance, t tree) {
	if stolen, total, err := t.steal(); err == nil && total > 0 {
		share := float64(stolen) / float64(total)
		p.StealShare = &share
	}
	for _, word := range firstFields(t.text("proc/loadavg"), 3) {
		if load, err := strconv.ParseFloat(word, 64); err == nil {
			p.Load = append(p.Load, load)
		}
	}
}

// listUnknown names what bears on the numbers and is not known.
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

// A tree is a file system with the kernel's sys and proc directories in it.
type tree struct{ fs.FS }

// maxFileBytes bounds what is read of a file.
const maxFileBytes = 1 << 20

// open opens regular files alone: opening a pipe would wait for somebody to write.
func (t tree) open(name string) (fs.File, error) {
	if info, err := fs.Stat(t, name); err != nil || !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	return t.Open(name)
}

// text is a file's content without the white space round it, or empty.
func (t tree) text(name string) string {
	f, err := t.open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes))
	if err != nil {
		return ""
	}
	return strings.Trim(string(data), " \t\r\n\x00")
}

// field is the first line's value of "name: value" in a file.
func (t tree) field(file, name string) string {
	for key, value := range t.lines(file) {
		if key == name {
			return value
		}
	}
	return ""
}

// lines yields the names and values of lines of "name: value".
func (t tree) lines(file string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		f, err := t.open(file)
		if err != nil {
			return
		}
		defer f.Close()
		for scanner := bufio.NewScanner(f); scanner.Scan(); {
			key, value, found := strings.Cut(scanner.Text(), ":")
			if found && !yield(strings.TrimSpace(key), strings.TrimSpace(value)) {
				return
			}
		}
	}
}

func firstFields(text string, n int) []string {
	fields := strings.Fields(text)
	return fields[:min(n, len(fields))]
}
