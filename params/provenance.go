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

// Provenance describes a machine, its state at Time, and the program. Empty: unknown.
type Provenance struct {
	Time     string `json:"time"` // RFC 3339 in UTC
	Hostname string `json:"hostname,omitempty"`
	Name     string `json:"name,omitempty"` // the user's name for the machine; "": Hostname

	CPUModel   string `json:"cpu_model,omitempty"`
	Vendor     string `json:"cpu_vendor,omitempty"`
	Microcode  string `json:"microcode,omitempty"`
	Product    string `json:"product,omitempty"` // vendor and name of the machine
	Board      string `json:"board,omitempty"`
	BIOS       string `json:"bios,omitempty"`
	Hypervisor string `json:"hypervisor,omitempty"`

	Shadowed bool   `json:"shadow_paging,omitempty"` // the hypervisor uses shadow paging, by the time of first accesses to pages
	Kernel   string `json:"kernel,omitempty"`
	OS       string `json:"os,omitempty"`
	Arch     string `json:"arch,omitempty"`

	Online      numa.CPUSet `json:"cpus_online"`
	Allowed     numa.CPUSet `json:"cpus_allowed"`
	CPUQuota    float64     `json:"cpu_quota,omitempty"`  // in CPUs; 0: none
	CoreKinds   []numa.Kind `json:"core_kinds,omitempty"` // of allowed CPUs, if there are several
	Governors   []string    `json:"governors,omitempty"`  // of allowed CPUs
	Turbo       string      `json:"turbo,omitempty"`      // on or off
	SMT         string      `json:"smt,omitempty"`        // on, off, or the reason why it is impossible
	Clocksource string      `json:"clocksource,omitempty"`
	Levels      numa.Levels `json:"levels,omitempty"` // closest levels that pairs of allowed CPUs share

	MemoryBytes   int64   `json:"memory_bytes,omitempty"`
	Memory        *Memory `json:"memory,omitempty"`
	HugePages     string  `json:"transparent_huge_pages,omitempty"` // always, madvise or never
	NUMABalancing string  `json:"numa_balancing,omitempty"`         // on or off: the kernel migrates pages

	StealShare *float64  `json:"steal_share,omitempty"` // of the CPUs' time since boot
	Load       []float64 `json:"load,omitempty"`        // averages of 1, 5 and 15 minutes
	// SumsAlone is the largest Sample.Computed of cores that nothing else uses; 0: unknown.
	SumsAlone float64 `json:"sums_alone_ns,omitempty"`

	Go          string   `json:"go"`
	Taulop      string   `json:"taulop"`
	BufferPages string   `json:"buffer_pages,omitempty"` // see Give; empty: unknown
	IdleCores   string   `json:"idle_cores,omitempty"`   // see Fill; empty: cores without a worker slept
	Reduction   string   `json:"reduction,omitempty"`    // instructions of reduction operators: AVX-512, AVX2, SSE4.2, NEON, Go
	Command     []string `json:"command"`

	Published []string `json:"published,omitempty"` // lines from the head of published tables

	// Unknown has sentences about properties that the machine does not report, and what is assumed.
	Unknown []string `json:"unknown,omitempty"`
}

// Machine is the machine's name, "" if unknown.
func (p Provenance) Machine() string { return cmp.Or(p.Name, p.Hostname) }

// Pages of buffers. The kernel need not grant a request for huge ones.
const (
	smallPages = "small"
	hugePages  = "huge"
)

// Huge reports whether buffers request huge pages.
func (p *Provenance) Huge() bool { return p.BufferPages == hugePages }

// Give sets the pages that buffers request.
func (p *Provenance) Give(huge bool) {
	if p.BufferPages = smallPages; huge {
		p.BufferPages = hugePages
	}
}

// busyCores says that cores without a worker are kept busy, so that all τ have the same clock.
const busyCores = "kept busy"

// Filled reports whether cores without a worker are kept busy.
func (p *Provenance) Filled() bool { return p.IdleCores == busyCores }

// Fill sets whether cores without a worker are kept busy.
func (p *Provenance) Fill(busy bool) {
	if p.IdleCores = ""; busy {
		p.IdleCores = busyCores
	}
}

// StealLimit is the steal time, as a share of the CPUs' time, above which there is a warning.
const StealLimit = 0.001

// loadLimit is the load average per online CPU above which there is a warning.
const loadLimit = 0.2

// ErrCoreKinds is the error for a machine with cores of different kinds.
var ErrCoreKinds = errors.New("keep a measurement to one kind")

// Warnings says what distorts times measured here, and what to do about it.
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
		warn("a quota allows the time of %.4g of the %d CPUs that may be used: workers beyond the quota are stopped in the middle of a transfer, so raise it or use at most %d, as is done unless more are asked for", p.CPUQuota, n, max(1, int(p.CPUQuota)))
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
		kinds := lists.Map(p.CoreKinds, func(kind numa.Kind) string { return fmt.Sprintf("%v (%s)", kind.CPUs, kind.Name) })
		warn("the cores are of different kinds, CPUs %s, and unless more workers are asked for they are on cores of one: %w", strings.Join(kinds, ", CPUs "), ErrCoreKinds)
	}
	if p.SMT == "on" {
		warn("SMT is on, so two workers may share a core: use no more workers than cores, or switch it off (echo off > /sys/devices/system/cpu/smt/control)")
	}
	if p.Clocksource != "" && !slices.Contains([]string{"tsc", "arch_sys_counter", "timebase"}, p.Clocksource) {
		warn("the clock source is %s and not the processor's own counter, so reading the time may take a system call: see in dmesg why, and boot with clocksource=tsc if that is stable here", p.Clocksource)
	}
	return append(list, lists.Map(p.Unknown, errors.New)...)
}
