package params

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// Provenance is what is known of a machine, of its state when it was read, and
// of the program. Empty is unknown.
type Provenance struct {
	Time     string `json:"time"` // when it was read, RFC 3339 in UTC
	Hostname string `json:"hostname,omitempty"`
	Name     string `json:"name,omitempty"` // what its user calls the machine, "" as its host

	CPUModel   string `json:"cpu_model,omitempty"`
	Vendor     string `json:"cpu_vendor,omitempty"`
	Microcode  string `json:"microcode,omitempty"`
	Product    string `json:"product,omitempty"` // vendor and name of the machine
	Board      string `json:"board,omitempty"`
	BIOS       string `json:"bios,omitempty"`
	Hypervisor string `json:"hypervisor,omitempty"` // that the machine is a guest of

	Shadowed bool   `json:"shadow_paging,omitempty"` // it keeps page tables of its own, by what the first access to a page takes
	Kernel   string `json:"kernel,omitempty"`
	OS       string `json:"os,omitempty"`
	Arch     string `json:"arch,omitempty"`

	Online      numa.CPUSet `json:"cpus_online"`
	Allowed     numa.CPUSet `json:"cpus_allowed"`
	CPUQuota    float64     `json:"cpu_quota,omitempty"`  // in CPUs; 0 is none
	CoreKinds   []CoreKind  `json:"core_kinds,omitempty"` // of allowed CPUs, when there are several
	Governors   []string    `json:"governors,omitempty"`  // of allowed CPUs
	Turbo       string      `json:"turbo,omitempty"`      // on or off
	SMT         string      `json:"smt,omitempty"`        // on, off, or why it cannot be
	Clocksource string      `json:"clocksource,omitempty"`
	Levels      numa.Levels `json:"levels,omitempty"` // what any two allowed CPUs share at the closest

	MemoryBytes   int64   `json:"memory_bytes,omitempty"`
	Memory        *Memory `json:"memory,omitempty"`
	HugePages     string  `json:"transparent_huge_pages,omitempty"` // always, madvise or never
	NUMABalancing string  `json:"numa_balancing,omitempty"`         // on or off: the kernel moves pages by itself

	StealShare *float64  `json:"steal_share,omitempty"` // of the CPUs' time since boot
	Load       []float64 `json:"load,omitempty"`        // averages of 1, 5 and 15 minutes
	// SumsAlone is the most that Sample.Computed is of cores that nothing else uses; 0: unknown.
	SumsAlone float64 `json:"sums_alone_ns,omitempty"`

	Go          string   `json:"go"`
	Taulop      string   `json:"taulop"`
	BufferPages string   `json:"buffer_pages,omitempty"` // that buffers were given: SmallPages or HugePages; empty: what the kernel chose
	IdleCores   string   `json:"idle_cores,omitempty"`   // what cores did that no worker was on: BusyCores; empty: they slept
	Reduction   string   `json:"reduction,omitempty"`    // instructions of reduction operators: AVX-512, AVX2, SSE4.2, NEON, Go
	Command     []string `json:"command"`

	Published []string `json:"published,omitempty"` // what the head of published tables says of machine and measurement, its lines

	// Unknown has a sentence for what the machine does not say and what is assumed in its place.
	Unknown []string `json:"unknown,omitempty"`
}

// Machine is the machine's name, "" if unknown.
func (p Provenance) Machine() string { return cmp.Or(p.Name, p.Hostname) }

// A CoreKind is a group of CPUs that differ from the others in what they can do.
type CoreKind struct {
	Kind string      `json:"kind"`
	CPUs numa.CPUSet `json:"cpus"`
}

// Pages of buffers. Huge ones were asked for, which the kernel need not have.
const (
	SmallPages = "small"
	HugePages  = "huge"
)

// Huge tells whether buffers are to have huge pages.
func (p *Provenance) Huge() bool { return p.BufferPages == HugePages }

// Give says which pages buffers are to have.
func (p *Provenance) Give(huge bool) {
	if p.BufferPages = SmallPages; huge {
		p.BufferPages = HugePages
	}
}

// BusyCores are idle ones that were kept busy, so that all have one clock.
const BusyCores = "kept busy"

// Filled tells whether cores that no worker is on are to be kept busy.
func (p *Provenance) Filled() bool { return p.IdleCores == BusyCores }

// Fill says whether they are to be.
func (p *Provenance) Fill(busy bool) {
	if p.IdleCores = ""; busy {
		p.IdleCores = BusyCores
	}
}

// Pages are the pages of buffers, empty if unknown. In files that do not say it the kernel's
// setting decided.
func (p *Provenance) Pages() string {
	switch {
	case p.BufferPages != "":
		return p.BufferPages
	case p.HugePages == "always":
		return "those that the kernel chose"
	case p.HugePages != "":
		return SmallPages
	}
	return ""
}

// StealLimit is the share of the CPUs' time above which what a hypervisor takes is said to matter.
const StealLimit = 0.001

// loadLimit is the share of the allowed CPUs above which a load is one of
// others: reading the machine takes none to speak of.
const loadLimit = 0.2

// ErrCoreKinds is of a machine with cores of different kinds.
var ErrCoreKinds = errors.New("keep a measurement to one kind")

// Warnings says what speaks against trusting a number measured here, a sentence
// each, and what to do about it.
func (p Provenance) Warnings() []error {
	var list []error
	warn := func(format string, args ...any) { list = append(list, fmt.Errorf(format, args...)) }

	if p.Hypervisor != "" {
		warn("this is a virtual machine (hypervisor %s): which cores and caches its CPUs really are is the host's affair, so compare only runs on the same instance", p.Hypervisor)
	}
	if p.Shadowed {
		warn("the hypervisor keeps page tables of its own (shadow paging): the first access to a page takes microseconds, which is left out here; programs that map and unmap memory pay it")
	}
	if p.StealShare != nil && *p.StealShare > StealLimit {
		warn("the hypervisor took %s of the CPUs' time since boot: measure when its other guests are quiet, or on a dedicated host", printable.Percent(*p.StealShare))
	}
	if n := p.Allowed.Len(); p.CPUQuota > 0 && p.CPUQuota < float64(n) {
		warn("the CPU quota is %.4g CPUs but %d may be used: workers beyond the quota are stopped in the middle of a transfer, so raise it or use at most %d, as is done unless more are asked for", p.CPUQuota, n, max(1, int(p.CPUQuota)))
	}
	if len(p.Load) > 0 && p.Load[0] > loadLimit*float64(p.Online.Len()) {
		warn("the load of the minute before was %.2f: stop what else runs here, and if that was a compiler or an earlier measurement, wait a minute", p.Load[0])
	}
	if others := lists.Filter(p.Governors, func(g string) bool { return g != "performance" }); len(others) > 0 {
		warn("the frequency governor is %s, so clocks change during a run: set performance (cpupower frequency-set -g performance)", strings.Join(others, " and "))
	}
	if p.Turbo == "on" {
		warn("turbo is on, so a few busy cores run faster than many: switch it off to compare different τ (echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > /sys/devices/system/cpu/cpufreq/boost)")
	}
	if len(p.CoreKinds) > 1 {
		kinds := lists.Map(p.CoreKinds, func(kind CoreKind) string { return fmt.Sprintf("%v (%s)", kind.CPUs, kind.Kind) })
		warn("the cores are of different kinds, CPUs %s, and unless more workers are asked for they are on cores of one: %w", strings.Join(kinds, ", CPUs "), ErrCoreKinds)
	}
	if p.SMT == "on" {
		warn("SMT is on, so two workers may share a core: use no more workers than cores, or switch it off (echo off > /sys/devices/system/cpu/smt/control)")
	}
	if p.Clocksource != "" && !slices.Contains([]string{"tsc", "arch_sys_counter", "timebase"}, p.Clocksource) {
		warn("the clock source is %s and not the processor's own counter, so reading the time may take a system call: see in dmesg why, and boot with clocksource=tsc if that is stable here", p.Clocksource)
	}
	for _, unknown := range p.Unknown {
		list = append(list, errors.New(unknown))
	}
	return list
}
