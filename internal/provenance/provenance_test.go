package provenance

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/snapshot"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// machine reads a machine without warnings, with other files by name and content.
func machine(t *testing.T, pairs ...string) Provenance {
	t.Helper()
	root := t.TempDir()
	must.Do(os.CopyFS(root, os.DirFS("testdata/quiet")))
	for i := 0; i < len(pairs); i += 2 {
		name := filepath.Join(root, filepath.FromSlash(pairs[i]))
		must.Do(os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(os.WriteFile(name, []byte(pairs[i+1]+"\n"), 0o600))
	}
	return Read(root, must.Get(numa.Discover(root)))
}

func TestWarnings(t *testing.T) {
	for _, test := range []struct {
		name string
		file []string // in addition to quiet, or instead
		want []string // a part of each warning
	}{
		{"quiet", nil, nil},
		{"governor", []string{cpuDir + "/cpu1/cpufreq/scaling_governor", "schedutil"}, []string{"governor is schedutil"}},
		{"turbo", []string{cpuDir + "/intel_pstate/no_turbo", "0"}, []string{"turbo is on"}},
		{"boost", []string{cpuDir + "/intel_pstate/no_turbo", "", cpuDir + "/cpufreq/boost", "1"}, []string{"turbo is on"}},
		{"load", []string{"proc/loadavg", "0.55 0.20 0.30 1/83 3504"}, []string{"load of the minute before was 0.55"}},
		{"steal", []string{"proc/stat", "cpu  100 0 100 800 0 0 0 20 0 0"}, []string{"2 % of the CPUs' time"}},
		{"guest", []string{"proc/cpuinfo", "model name : x\nflags : fpu hypervisor"}, []string{"virtual machine (hypervisor of unknown kind)"}},
		{"Xen", []string{"sys/hypervisor/type", "xen"}, []string{"hypervisor xen"}},
		{"SMT", []string{cpuDir + "/smt/active", "1", cpuDir + "/cpu0/topology/thread_siblings", "", cpuDir + "/cpu1/topology/thread_siblings", ""},
			[]string{"SMT is on", "cores of CPUs 0-1 are unknown"}},
		{"siblings", []string{cpuDir + "/cpu0/topology/thread_siblings", "3", cpuDir + "/cpu1/topology/thread_siblings", "3"}, []string{"SMT is on"}},
		{"modules", []string{
			"proc/cpuinfo", "vendor_id : AuthenticAMD\ncpu family : 21\nmodel name : x", cpuDir + "/smt/active", "1", cpuDir + "/cpu0/topology/core_id", "0", cpuDir + "/cpu1/topology/core_id", "1",
			cpuDir + "/cpu0/topology/thread_siblings", "3", cpuDir + "/cpu1/topology/thread_siblings", "3",
		}, nil},
		{"clock source", []string{"sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet"}, []string{"clock source is hpet"}},
		{"kinds of cores", []string{"sys/devices/cpu_core/cpus", "0", "sys/devices/cpu_atom/cpus", "1"}, []string{"CPUs 0 (core), CPUs 1 (atom)"}},
		{"quota", []string{"proc/self/cgroup", "0::/", "proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0", "sys/fs/cgroup/cpu.max", "150000 100000"},
			[]string{"a quota allows the time of 1.5 of the 2 CPUs that may be used"}},
		{"unknown", []string{"proc/loadavg", "", "proc/stat", "", cpuDir + "/cpu0/cache/index0/level", ""}, []string{"caches are unknown", "does not say its steal time, load"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := machine(t, test.file...).Warnings()
			check.Need(t, len(got) == len(test.want), "warnings: %v; want %d", got, len(test.want))
			for i, want := range test.want {
				contains.All(t, got[i].Error(), want)
			}
		})
	}
}

func TestReadsBelowRoot(t *testing.T) {
	p := machine(t)
	check.Equal(t, must.Get(time.Parse(time.RFC3339, p.Time)).Location(), time.UTC, "where the time %q is", p.Time)
	p.Time, p.Go, p.Taulop, p.Command = "", "", "", nil
	check.True(t, runtime.GOOS == "linux" || p.Product+p.Board+p.BIOS == "", "names this machine's hardware: %+v", p)
	got, err := json.Marshal(p)
	want := `{"time":"","hostname":"node7","cpu_model":"Some Xeon @ 2.6GHz","cpu_vendor":"GenuineIntel","microcode":"0x1",` +
		`"kernel":"6.1.0","os":"linux","cpus_online":"0-1","cpus_allowed":"0-1","governors":["performance"],"turbo":"off","smt":"off",` +
		`"clocksource":"tsc","levels":[{"level":"same package","cpus":["0-1"]}],"memory_bytes":1024000,"transparent_huge_pages":"madvise","numa_balancing":"on",` +
		`"steal_share":0.000999000999000999,"load":[0.1,0.2,0.3],"go":"","taulop":"","command":null}`
	check.True(t, err == nil && string(got) == want, "got  %s (%v)\nwant %s", got, err, want)
}

// TestSnapshots compares real machines with facts from their files.
func TestSnapshots(t *testing.T) {
	for _, test := range []struct{ name, model, vendor, kinds, memory string }{
		{"20em64t-hybrid-1p6c2t+2ca4co1t", "13th Gen Intel(R) Core(TM) i7-1370P", "GenuineIntel", "0-11 12-19", ""},
		{"nvidia-dgx-gb10", "CPU implementer 0x41, part 0xd87 and 0xd85", "", "5-9,15-19 0-4,10-14", ""},
		{"16amd64-8n2c", "Dual Core AMD Opteron(tm) Processor 865", "AuthenticAMD", "", ""},
		{"32em64t-2n8c+dax+nvme+mic+dimms", "Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz", "GenuineIntel", "", "8 modules in 24 slots at 1600 MT/s"}, // whose letters are packages
	} {
		t.Run(test.name, func(t *testing.T) {
			root := snapshot.Unpack(t, test.name)
			m := must.Get(numa.Discover(root))
			p := Read(root, m)
			kinds := lists.Map(p.CoreKinds, func(k numa.Kind) string { return k.CPUs.String() })
			check.True(t, p.CPUModel == test.model && p.Vendor == test.vendor && strings.Join(kinds, " ") == test.kinds,
				"got %q, %q, kinds of cores %v; want %q, %q, %s", p.CPUModel, p.Vendor, kinds, test.model, test.vendor, test.kinds)
			memory := p.Memory
			check.True(t, (memory != nil) == (test.memory != "") && (memory == nil || memory.String() == test.memory && memory.PeakGBs == 0 && memory.Nodes == 2),
				"memory %+v, want %s", memory, test.memory)
			check.Equal(t, p.Hypervisor, "", "hypervisor")
			check.Equal(t, p.Hostname, "", "hostname")
		})
	}
}

func TestThisMachine(t *testing.T) {
	m, err := numa.Discover("/")
	skip.Error(t, err)
	p := Read("/", m)
	check.True(t, p.OS == runtime.GOOS && p.Arch == runtime.GOARCH && p.Go != "" && p.Taulop != "" && len(p.Command) != 0, "got %+v", p)
	meter := StartSteal("/")
	share, known := meter.Share()
	check.True(t, !known || share >= 0 && share <= 1, "steal share %g is none", share)
}

func TestSteal(t *testing.T) {
	root := t.TempDir()
	stat := filepath.Join(root, "proc", "stat")
	must.Do(os.MkdirAll(filepath.Dir(stat), 0o755))
	for _, test := range []struct {
		stat          string
		stolen, total uint64 // total 0: unknown
	}{
		{"cpu  1062 0 1114 119886 117 0 30 14 0 0\ncpu0 1", 14, 122223},
		{"cpu  1 2 3 4 5 6 7 8 900 900", 8, 36}, // guest time is in user time already
		{"cpu  1 2 3 4", 0, 0}, {"cpu  1 2 3 4 x 6 7 8", 0, 0}, {"", 0, 0},
	} {
		must.Do(os.WriteFile(stat, []byte(test.stat), 0o600))
		meter := StartSteal(root)
		check.True(t, meter.known == (test.total > 0) && (!meter.known || meter.stolen == test.stolen && meter.total == test.total) && meter.Warnings() == nil,
			"%q: got %+v, %v; want %d of %d", test.stat, meter, meter.Warnings(), test.stolen, test.total)
	}
	must.Do(os.WriteFile(stat, []byte("cpu  1062 0 1114 119886 117 0 30 14 0 0"), 0o600))
	meter := StartSteal(root)
	must.Do(os.WriteFile(stat, []byte("cpu  2062 0 1114 119886 117 0 30 19 0 0"), 0o600))
	share, known := meter.Share()
	check.True(t, known && share == 5.0/1005 && len(meter.Warnings()) == 1, "got %g, %v, %v; want 5 of 1005 and a warning", share, known, meter.Warnings())
}

func TestNamed(t *testing.T) {
	for _, test := range []struct {
		parts []string
		want  string
	}{
		{[]string{"HP", "HP EliteBook 840 14 inch"}, "HP EliteBook 840 14 inch"}, {[]string{"unknown", "unknown"}, ""},
		{[]string{"Dell Inc.", "PowerEdge  2950\n", "unknown"}, "Dell Inc. PowerEdge 2950"},
	} {
		check.Equal(t, named(test.parts[0], test.parts[1:]...), test.want, "%q", test.parts)
	}
}

// slot is a structure of type 17 of SMBIOS 3.3: 92 bytes and strings. Size 0 is an empty slot; speeds
// from 65535 on are in the extended fields.
func slot(place, bank string, size, bits, rated, clocked int) []byte {
	s := make([]byte, 92)
	s[0], s[1], s[0x12] = 17, 92, 0x22
	text := ""
	for at, name := range map[int]string{0x10: place, 0x11: bank} {
		if name != "" { // the number of a string; 0: none
			text += name + "\x00"
			s[at] = byte(strings.Count(text, "\x00"))
		}
	}
	put := func(at, v int) { binary.LittleEndian.PutUint16(s[at:], uint16(v)) }
	put(0x0a, bits)
	put(0x0c, size)
	for _, speed := range [][3]int{{0x15, 0x54, rated}, {0x20, 0x58, clocked}} {
		if speed[2] < 0xffff {
			put(speed[0], speed[2])
			continue
		}
		put(speed[0], 0xffff)
		binary.LittleEndian.PutUint32(s[speed[1]:], uint32(speed[2]))
	}
	return append(s, text+"\x00"...)
}

// A peak needs the channel, clock and width of every module, because a channel may have several modules.
func TestMemoryIn(t *testing.T) {
	bios := append([]byte{0, 4, 0, 0}, "a BIOS\x00\x00"...)
	none := []byte{127, 4, 0, 0, 0, 0} // without strings
	rom := slot("SYSTEM ROM", "", 1, 64, 33, 33)
	rom[0x12] = 0x09
	old := append(slot("CHANNEL A", "", 512, 64, 0, 0)[:0x15], "CHANNEL A\x00\x00"...)
	old[1] = 0x15
	for _, tt := range []struct {
		name  string
		table []byte
		want  *params.Memory
	}{
		{"nothing", nil, nil},
		{"no slots", bios, nil},
		{"no modules", slot("DIMM 0", "P0 CHANNEL A", 0, 64, 0, 0), nil},
		{"two packages, two modules a channel, one channel empty", slices.Concat(bios,
			slot("DIMM 0", "P0 CHANNEL A", 16384, 64, 4800, 4400), slot("DIMM 1", "P0 CHANNEL A", 16384, 64, 4800, 4400),
			slot("DIMM 0", "P0 CHANNEL B", 0, 64, 0, 0), slot("DIMM 0", "P1 CHANNEL A", 0x7fff, 64, 4800, 4800), none),
			&params.Memory{PeakGBs: 73.6, Modules: 3, Slots: 4, Filled: 2, Channels: 3, MTs: 4400, RatedMTs: 4800}}, // 4400·8 and 4800·8 MB/s
		{"the channel in the slot's name", slices.Concat(slot("Controller0-ChannelA-DIMM0", "BANK 0", 1, 32, 6400, 6400), slot("Controller1-ChannelA-DIMM0", "BANK 1", 1, 32, 6400, 6400)),
			&params.Memory{PeakGBs: 51.2, Modules: 2, Slots: 2, Filled: 2, Channels: 2, MTs: 6400, RatedMTs: 6400}},
		{"numbers", slices.Concat(slot("P1-DIMMA1", "P0_Node0_Channel0_Dimm0", 1, 64, 3200, 0), slot("P1-DIMMA2", "P0_Node0_Channel0_Dimm1", 1, 64, 3200, 0), slot("P1-DIMMB1", "P0_Node0_Channel1_Dimm0", 1, 64, 3200, 0)),
			&params.Memory{PeakGBs: 51.2, Modules: 3, Slots: 3, Filled: 2, Channels: 2, MTs: 3200, RatedMTs: 3200}},
		{"fast", slot("ChannelA", "", 1, 64, 70000, 70000), &params.Memory{PeakGBs: 560, Modules: 1, Slots: 1, Filled: 1, Channels: 1, MTs: 70000, RatedMTs: 70000}},
		{"letters may be packages", slices.Concat(slot("DIMM_A1", "", 1, 64, 1600, 1333), slot("DIMM_B1", "", 0, 64, 0, 0)),
			&params.Memory{Modules: 1, Slots: 2, MTs: 1333, RatedMTs: 1600}},
		{"one name for the channels of all packages", slices.Concat(slot("", "CHANNEL A", 1, 64, 1600, 1600), slot("", "CHANNEL A", 1, 64, 1600, 1600), slot("", "CHANNEL A", 1, 64, 1600, 1600),
			slot("", "CHANNEL A", 1, 64, 1600, 1600), slot("", "CHANNEL A", 1, 64, 1600, 1600)), &params.Memory{Modules: 5, Slots: 5, MTs: 1600, RatedMTs: 1600}},
		{"no width", slot("", "CHANNEL A", 1, 0xffff, 1600, 1600), &params.Memory{Modules: 1, Slots: 1, MTs: 1600, RatedMTs: 1600}},
		{"flash", slices.Concat(rom, slot("", "CHANNEL A", 1, 64, 1600, 1600)), &params.Memory{PeakGBs: 12.8, Modules: 1, Slots: 1, Filled: 1, Channels: 1, MTs: 1600, RatedMTs: 1600}},
		{"of an old version, without clocks", old, &params.Memory{Modules: 1, Slots: 1}},
		{"cut short", slices.Concat(slot("", "CHANNEL A", 1, 64, 1600, 1600), slot("", "CHANNEL B", 1, 64, 1600, 1600)[:95]),
			&params.Memory{PeakGBs: 12.8, Modules: 1, Slots: 1, Filled: 1, Channels: 1, MTs: 1600, RatedMTs: 1600}},
	} {
		check.Deep(t, memoryIn(tt.table), tt.want, "%s", tt.name)
	}
}

// The tables in sys are one file, or a file for each structure.
func TestModulesBelowRoot(t *testing.T) {
	for _, name := range []string{"sys/firmware/dmi/tables/DMI", "sys/firmware/dmi/entries/17-0/raw"} {
		root := t.TempDir()
		path := filepath.Join(root, name)
		must.Do(os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(os.WriteFile(path, slot("", "CHANNEL A", 1, 64, 1600, 1600), 0o600))
		p := Read(root, &numa.Machine{Nodes: []numa.Node{{CPUs: numa.SetOf(0), MemoryBytes: 1 << 30}, {MemoryBytes: 1 << 30}}})
		check.True(t, p.Memory != nil && p.Memory.PeakGBs == 12.8 && p.Memory.Nodes == 1, "%s: %+v", name, p.Memory)
	}
}

func FuzzMemoryIn(f *testing.F) {
	f.Add(slot("DIMM 0", "P0 CHANNEL A", 16384, 64, 4800, 4400))
	f.Add(slices.Concat(slot("ChannelA", "", 1, 64, 70000, 70000), slot("DIMM_B1", "", 0, 64, 0, 0)[:40]))
	f.Add([]byte{17, 255, 0, 0})
	f.Fuzz(func(t *testing.T, table []byte) {
		m := memoryIn(table)
		if m == nil {
			return
		}
		check.True(t, m.Modules <= m.Slots && m.Filled <= m.Channels && m.Filled <= m.Modules && m.PeakGBs >= 0 && m.PeakGBs > 0 == (m.Filled > 0), "%+v", m)
		check.True(t, !strings.ContainsAny(m.String(), "\x00\n"), "%q", m.String())
	})
}
