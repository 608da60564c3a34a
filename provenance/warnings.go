package provenance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// loadLimit is the share of the allowed CPUs above which a load is one of
// others: reading the machine takes none to speak of.
const loadLimit = 0.2

// Warnings says what speaks against trusting a number measured here, a sentence
// each, and what to do about it.
func (p Provenance) Warnings() []error {
	var list []error
	warn := func(format string, args ...any) { list = append(list, fmt.Errorf(format, args...)) }

	if p.Hypervisor != "" {
		warn("this is a virtual machine (hypervisor %s): which cores and caches its CPUs really are is the host's affair, so compare only runs on the same instance", p.Hypervisor)
	}
	if p.StealShare != nil && *p.StealShare > stealLimit {
		warn("the hypervisor took %s of the CPUs' time since boot: measure when its other guests are quiet, or on a dedicated host", percent(*p.StealShare))
	}
	if n := p.Allowed.Len(); p.CPUQuota > 0 && p.CPUQuota < float64(n) {
		warn("the CPU quota is %.4g CPUs but %d may be used: workers beyond the quota are stopped in the middle of a transfer, so raise it or use at most %d", p.CPUQuota, n, max(1, int(p.CPUQuota)))
	}
	if len(p.Load) > 0 && p.Load[0] > loadLimit*float64(p.Online.Len()) {
		warn("the load of the last minute is %.2f: stop what else runs here, and if that was an earlier measurement, wait a minute", p.Load[0])
	}
	if others := slices.DeleteFunc(slices.Clone(p.Governors), func(g string) bool { return g == "performance" }); len(others) > 0 {
		warn("the frequency governor is %s, so clocks change during a run: set performance (cpupower frequency-set -g performance)", strings.Join(others, " and "))
	}
	if p.Turbo == "on" {
		warn("turbo is on, so a few busy cores run faster than many: switch it off to compare different τ (echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > /sys/devices/system/cpu/cpufreq/boost)")
	}
	if len(p.CoreKinds) > 1 {
		kinds := make([]string, len(p.CoreKinds))
		for i, kind := range p.CoreKinds {
			kinds[i] = fmt.Sprintf("%v (%s)", kind.CPUs, kind.Kind)
		}
		warn("the cores are of different kinds, CPUs %s: keep a measurement to one kind with -cpus", strings.Join(kinds, ", CPUs "))
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
