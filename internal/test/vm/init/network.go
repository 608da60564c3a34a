//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/params"
)

// delay has a network whose packets are late measured: that is L of a byte, for one
// flow and for four. It is long against what emulated CPUs take, on a host that is busy.
func (g guest) delay(ctx context.Context) error {
	const late = 150 * time.Millisecond
	t, err := g.network(ctx, netlink.NetemQdiscAttrs{Latency: uint32(late.Microseconds())}, "1")
	if err != nil {
		return err
	}
	for _, tau := range []int{1, 4} {
		found, err := t.of(1, tau)
		if err != nil {
			return err
		}
		if ratio := found / late.Seconds(); !(ratio > 0.99 && ratio < 1.25) { // a host that is busy adds some
			return fmt.Errorf("L(1,%d) is %.1f ms, packets are %v late", tau, 1e3*found, late)
		}
	}
	return nil
}

// rate has a slow network measured: bytes more take their time, those of all flows together.
func (g guest) rate(ctx context.Context) error {
	const bits = 4e6 // a second
	t, err := g.network(ctx, netlink.NetemQdiscAttrs{Rate64: bits / 8}, "8K,32K")
	if err != nil {
		return err
	}
	for _, tau := range []int{1, 4} {
		small, err := t.of(8<<10, tau)
		if err != nil {
			return err
		}
		large, err := t.of(32<<10, tau)
		if err != nil {
			return err
		}
		// Of 1514 bytes of a packet 1448 are of a message.
		found := 8 * float64(tau*(32-8)<<10) * 1514 / 1448 / (large - small)
		if !(math.Abs(found/bits-1) < 0.2) { // quiet 1 %, on a host that is busy more
			return fmt.Errorf("%d flows find %.2f Mbit/s, there are %.0f", tau, found/1e6, bits/1e6)
		}
	}
	return nil
}

// transfers are those that were measured of a network.
type transfers []params.Cell

// of is L(m,τ) of the launch that found the least, in seconds: what else the host of this
// machine does only adds to it.
func (t transfers) of(bytes, tau int) (float64, error) {
	for _, c := range t {
		if c.Variant == (params.Parameter{Of: cable, Name: params.NetTransfer}).String() && c.Bytes == bytes && c.Tau == tau && c.Time.Known() {
			return slices.Min(c.Values()) / 1e9, nil
		}
	}
	return 0, fmt.Errorf("L(%d,%d) was not measured", bytes, tau)
}

// cable is the interface at this end.
const cable = "cable0"

// network measures a virtual cable between two network namespaces, which does to packets
// what like says.
func (g guest) network(ctx context.Context, like netlink.NetemQdiscAttrs, sizes string) (transfers, error) {
	for _, module := range []string{"veth", "sch_netem"} {
		if err := load("/lib/" + module + ".ko"); err != nil {
			return nil, err
		}
	}
	// The counter of an emulated processor was held against a timer when the kernel booted,
	// on a host that may have been busy. A clock that needs no such thing tells the time of
	// what timers delay.
	const clock = "/sys/devices/system/clocksource/clocksource0"
	if err := write(clock, "current_clocksource", "acpi_pm"); err != nil {
		return nil, err
	}
	defer write(clock, "current_clocksource", "tsc")
	const secret = "/tmp/secret"
	if err := os.WriteFile(secret, []byte("of two namespaces"), 0o600); err != nil {
		return nil, err
	}
	listener := exec.CommandContext(ctx, taulop, "net", "-quiet", "-listen", "-secret", secret)
	listener.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	listener.Stderr = os.Stdout
	if err := listener.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- listener.Wait() }()
	defer listener.Process.Kill()
	defer func() {
		if link, err := netlink.LinkByName(cable); err == nil {
			netlink.LinkDel(link) // and with it the other end
		}
	}()
	if err := connect(listener.Process.Pid, like); err != nil {
		return nil, fmt.Errorf("no cable between two namespaces: %w", err)
	}
	const file = "/tmp/net.json"
	os.Remove(file)
	o, err := g.execute(ctx, nil, taulop, "net", "-quiet", "-to", "10.77.0.2", "-secret", secret, "-tam=false", "-m", sizes, "-tau", "1,4", "-launches", "6", "-time", "5m", "-o", file)
	if err == nil {
		err = passed(o, o.clean())
	}
	if err != nil {
		return nil, err
	}
	if err := <-ended; err != nil {
		return nil, fmt.Errorf("the end that listened: %w", err)
	}
	f, err := params.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return f.Cells, nil
}

// load has the kernel load a module, which it may have already.
func load(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%w: a kernel that was named brings no modules", err)
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), "", 0); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// connect lays a cable between this namespace and that of a process, which is like that
// in either direction.
func connect(pid int, like netlink.NetemQdiscAttrs) error {
	const peer = "cable1"
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: cable}, PeerName: peer}); err != nil {
		return err
	}
	far, err := netlink.LinkByName(peer)
	if err != nil {
		return err
	}
	if err := netlink.LinkSetNsPid(far, pid); err != nil {
		return err
	}
	here, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer here.Close()
	namespace, err := netns.GetFromPid(pid)
	if err != nil {
		return err
	}
	defer namespace.Close()
	there, err := netlink.NewHandleAt(namespace, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer there.Close()
	like.Limit = 10000 // packets: none is to be lost
	for _, end := range []struct {
		*netlink.Handle
		name, address string
	}{{here, cable, "10.77.0.1/24"}, {there, peer, "10.77.0.2/24"}} {
		link, err := end.LinkByName(end.name)
		if err != nil {
			return err
		}
		address, err := netlink.ParseAddr(end.address)
		if err != nil {
			return err
		}
		if err := end.AddrAdd(link, address); err != nil {
			return err
		}
		if err := end.LinkSetUp(link); err != nil {
			return err
		}
		if err := end.QdiscAdd(netlink.NewNetem(netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}, like)); err != nil {
			return fmt.Errorf("netem: %w", err)
		}
	}
	return nil
}
