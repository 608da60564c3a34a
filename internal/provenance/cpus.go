package provenance

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
)

const cpuDir = "sys/devices/system/cpu"

func readCPUs(p *Provenance, t tree, m *numa.Machine) {
	readCPUInfo(p, t)
	governors := lists.Map(p.Allowed, func(cpu int) string { return t.Text(path.Join(ofCPU(cpu), "cpufreq/scaling_governor")) })
	p.Governors = lists.Rising(lists.Filter(governors, func(name string) bool { return name != "" }))
	p.Turbo = t.turbo()
	p.SMT = t.smt(m)
	p.CoreKinds = m.Kinds
	if p.Microcode == "" && len(p.Online) > 0 {
		p.Microcode = t.Text(path.Join(ofCPU(p.Online[0]), "microcode/version"))
	}
}

// readCPUInfo reads the names of the first CPU. Each architecture has its own keys in proc/cpuinfo;
// arm64 has numbers instead of names, of each kind of cores.
func readCPUInfo(p *Provenance, t tree) {
	info, parts := make(map[string]string), []string(nil)
	for key, value := range t.Fields("proc/cpuinfo", ":") {
		if key == "CPU part" && !slices.Contains(parts, value) {
			parts = append(parts, value)
		}
		if _, found := info[key]; !found {
			info[key] = value
		}
	}
	p.CPUModel = words(cmp.Or(info["model name"], info["cpu model"], info["cpu"]))
	p.Vendor = info["vendor_id"]
	p.Microcode = info["microcode"]
	if len(parts) > 0 && p.CPUModel == "" {
		p.CPUModel = fmt.Sprintf("CPU implementer %s, part %s", info["CPU implementer"], strings.Join(parts, " and "))
	}
	p.Product = info["machine"] // PowerPC
	p.Hypervisor = cmp.Or(t.Text("proc/device-tree/hypervisor/compatible"), t.Text("sys/hypervisor/type"))
	if p.Hypervisor == "" && slices.Contains(strings.Fields(info["flags"]), "hypervisor") {
		p.Hypervisor = "of unknown kind"
	}
}

func (t tree) turbo() string {
	no, boost := map[string]string{"0": "on", "1": "off"}, map[string]string{"0": "off", "1": "on"}
	return cmp.Or(
		no[t.Text(cpuDir+"/intel_pstate/no_turbo")],
		// Other drivers have a switch for all CPUs, or for each.
		boost[t.Text(cpuDir+"/cpufreq/boost")], boost[t.Text(cpuDir+"/cpu0/cpufreq/boost")],
	)
}

// smt is on where cores have several threads. The kernel also counts two cores of a module as threads.
func (t tree) smt(m *numa.Machine) string {
	if slices.ContainsFunc(m.CPUs, func(c numa.CPU) bool { return c.Thread > 0 }) {
		return "on"
	}
	active := t.Text(cpuDir + "/smt/active")
	switch control := t.Text(cpuDir + "/smt/control"); {
	case active == "0":
		return cmp.Or(map[string]string{"notsupported": "not supported", "notimplemented": "not implemented"}[control], "off")
	case len(m.CPUs) > 0 && t.Text(path.Join(ofCPU(m.CPUs[0].ID), "topology/thread_siblings")) != "":
		return "off"
	}
	return map[string]string{"1": "on"}[active]
}

func ofCPU(cpu int) string { return cpuDir + "/cpu" + strconv.Itoa(cpu) }
