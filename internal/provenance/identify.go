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

	"github.com/taulop/taulop/shm"
)

// identify names the hardware. What the CPU says of itself holds for this
// machine alone; what the firmware says is in the tree.
func identify(p *Provenance, root string) {
	if root == "/" {
		p.OS, p.Arch = runtime.GOOS, runtime.GOARCH
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
		return // there ghw asks this machine, whatever the root
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

// sumsAlone is what 32 sums that wait for none of the others and a loop's own two take a core that
// computes four at once, clock cycles, as those with AVX2 do from Haswell and Zen on; not Xeon Phi.
const sumsAlone = 8.5

// named joins what ghw found; for what it did not find it writes unknown. Many names begin with
// the vendor's.
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

// words takes out the white space that firmware pads its names with.
func words(name string) string { return strings.Join(strings.Fields(name), " ") }

func hypervisor() string {
	if id := cpuid.CPU.HypervisorVendorID; id != cpuid.VendorUnknown {
		return id.String()
	}
	return strings.Trim(cpuid.CPU.HypervisorVendorString, " \x00")
}
