package provenance

import (
	"cmp"
	"os"
	"runtime"
	"strings"

	"github.com/jaypipes/ghw"
	"github.com/jaypipes/ghw/pkg/baseboard"
	"github.com/jaypipes/ghw/pkg/bios"
	"github.com/jaypipes/ghw/pkg/product"
	"github.com/klauspost/cpuid/v2"

	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/shm"
)

// identify names the hardware, by the CPU if the machine is the running one, and by the firmware's
// files in the tree.
func identify(p *Provenance, root string) {
	if root == "/" {
		p.OS, p.Arch, p.Reduction = runtime.GOOS, runtime.GOARCH, reduce.Instructions()
		name, _ := os.Hostname()
		p.Hostname = cmp.Or(p.Hostname, name)
		p.CPUModel = cmp.Or(words(cpuid.CPU.BrandName), p.CPUModel)
		p.Vendor = cmp.Or(strings.TrimSpace(cpuid.CPU.VendorString), p.Vendor)
		if cpuid.CPU.Supports(cpuid.AVX2) && !cpuid.CPU.Supports(cpuid.AVX512ER) {
			p.SumsAlone = sumsAlone
		}
		if cpuid.CPU.VM() {
			p.Hypervisor = cmp.Or(hypervisor(), p.Hypervisor, "of unknown kind")
			p.Shadowed = shm.Shadowed()
		}
	}
	if runtime.GOOS != "linux" {
		return // there ghw reads the running machine, whatever the root
	}
	below, quiet := ghw.WithChroot(root), ghw.WithDisableWarnings()
	if info, err := product.New(below, quiet); err == nil {
		p.Product = cmp.Or(named(info.Vendor, info.Name), p.Product)
		if p.Hypervisor == "" && strings.EqualFold(info.Vendor, "QEMU") {
			p.Hypervisor = "QEMU"
		}
	}
	if info, err := baseboard.New(below, quiet); err == nil {
		p.Board = named(info.Vendor, info.Product, info.Version)
	}
	if info, err := bios.New(below, quiet); err == nil {
		p.BIOS = named(info.Vendor, info.Version, info.Date)
	}
}

// sumsAlone is the time of 32 independent sums and a loop's own two, in clock cycles, on a core that
// computes four at once, as those with AVX2 do from Haswell and Zen on, but not Xeon Phi.
const sumsAlone = 8.5

// named joins names of ghw, which writes unknown for missing ones. Many names begin with the vendor's.
func named(vendor string, parts ...string) string {
	var known []string
	for _, part := range append([]string{vendor}, parts...) {
		if part = words(part); part == "" || part == "unknown" {
			continue
		}
		if len(known) == 1 && strings.HasPrefix(part, known[0]) {
			known = nil
		}
		known = append(known, part)
	}
	return strings.Join(known, " ")
}

// words removes padding white space from a name.
func words(name string) string { return strings.Join(strings.Fields(name), " ") }

func hypervisor() string {
	if id := cpuid.CPU.HypervisorVendorID; id != cpuid.VendorUnknown {
		return id.String()
	}
	return strings.Trim(cpuid.CPU.HypervisorVendorString, " \x00")
}
