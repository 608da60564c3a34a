package network

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/sandbox"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/params"
)

// knock connects as strangers do, silent, with half a hello or with a hello alone, for the test's time.
func knock(t *testing.T, address string, times int) {
	t.Helper()
	for i := range times {
		c := must.Get(net.Dial("tcp", address))
		t.Cleanup(func() { c.Close() })
		switch i % 3 { // the host may have hung up already
		case 1:
			c.Write(magic[:])
		case 2:
			binary.Write(c, binary.BigEndian, hello{Magic: magic, Version: protocol, Purpose: flowing})
		}
	}
}

// A witness records the reports of a host.
type witness struct {
	mutex sync.Mutex
	lines []string
}

func (w *witness) say(err error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.lines = append(w.lines, err.Error())
}

// Hundreds of connections without a proof do not disturb the begin of a run or of launches, or samples.
func TestIdleStrangers(t *testing.T) {
	const strangers = 3 * mostUnproven
	var w witness
	h := &Host{Wait: time.Minute, Facts: Facts{Memory: 1 << 20}, Say: w.say}
	l, ended := hosting(t, h)
	knock(t, l.Addr().String(), strangers)
	run := begin(t, l)
	first := lead(t, run.Targets, run)
	defer first.Close()
	for range 3 {
		knock(t, l.Addr().String(), strangers)
		s := lead(t, run.Targets, run)
		for _, s := range []*sampler{first, s} {
			check.NoError(t, must.Err(s.Sample(t.Context(), smallExchange, 0)), "Sample")
		}
		s.Close()
	}
	ends(t, run, ended)
	check.True(t, h.admitted == 0 && len(h.groups) == 0 && len(h.unproven.slots) == 0,
		"the host ended with %d flows in %d launches and %d handshakes", h.admitted, len(h.groups), len(h.unproven.slots))
	check.Need(t, len(w.lines) >= mostLines, "%d lines: %q", len(w.lines), w.lines)
	contains.All(t, w.lines[len(w.lines)-1], " more connections")
}

// forget undoes admit, of runs and of flows.
func TestAdmits(t *testing.T) {
	h, run := Host{groups: make(map[uint64]*group)}, hello{Purpose: controlling, Run: nonce()}
	for range 2 {
		check.Need(t, h.admit(run) == welcome && h.admit(run) == engaged, "one run at a time")
		h.forget(run)
	}
	h.admit(run)
	flow := func(i int) hello {
		return hello{Purpose: flowing, Run: run.Run, Flow: uint32(i % 10), Launch: uint64(i / 10)}
	}
	for range 2 {
		for i := range mostFlows {
			a := h.admit(flow(i))
			check.Need(t, a == welcome, "flow %d: %d", i, a)
		}
		check.Equal(t, h.admit(flow(0)), full, "a flow more than are allowed")
		for i := range mostFlows {
			h.forget(flow(i))
		}
		check.Equal(t, h.admitted, 0, "flows left")
		check.Equal(t, len(h.groups), 0, "launches left")
	}
}

// peak is the peak memory of this process since the last call, bytes.
func peak(t *testing.T) (bytes int) {
	t.Helper()
	_, after, _ := strings.Cut(string(must.Get(os.ReadFile("/proc/self/status"))), "VmHWM:")
	must.Get(fmt.Sscan(after, &bytes))
	err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	skip.If(t, err != nil, "the peak of this process is unknown: %v", err)
	return bytes << 10
}

// A peer with the secret that orders huge messages gets the host's bound, and an error beyond it.
func TestMemoryIsBounded(t *testing.T) {
	const flows, each = 8, mostMessage
	h := &Host{Wait: time.Minute, Facts: Facts{Memory: 64 << 20}}
	l, ended := hosting(t, h)
	run := begin(t, l)
	check.Equal(t, run.Facts[0].Memory, h.Facts.Memory, "bytes that the host says to take")
	peak(t)
	before, launch := peak(t), rand.Uint64()
	for i := range flows {
		c := must.Get(call(t.Context(), run.Targets[0], secret, hello{Purpose: flowing, Flow: uint32(i), Launch: launch, Run: run.ID}, false))
		defer c.Close()
		bytes := uint32(12 << 20) // two of these fit
		if i == flows-1 {
			bytes = each
		}
		must.Get(c.Write(encoded(order{Operation: exchange, Tau: flows, Bytes: bytes, Times: 1})))
	}
	err := run.Why(errHungUp)
	contains.Error(t, err, "there says: a flow from ", "messages of all flows may take 64M here", "needs 512M for its own: "+ErrMemory.Error())
	check.Equal(t, errors.Is(err, ErrMemory), true, "%v is of memory", err)
	run.End(err)
	check.ErrorIs(t, <-ended, ErrMemory, "the host ended with")
	check.AtMost(t, peak(t)-before, h.Facts.Memory+32<<20, "bytes more than before")
	check.Equal(t, h.budget.taken.Load(), 0, "bytes taken")
}

// A flow waits for memory that another one gives back.
func TestBudget(t *testing.T) {
	b := &budget{most: 100}
	must.Do(b.take(60))
	check.Error(t, b.take(101), "more than the budget was taken")
	taken := make(chan error)
	go func() { taken <- b.take(50) }()
	time.Sleep(5 * time.Millisecond) // it probably waits by then
	b.give(60)
	check.NoError(t, <-taken, "the flow that waits")
	b.give(50)
	check.Equal(t, b.taken.Load(), 0, "bytes taken")
}

// The error names the host for which a request is too large.
func TestFits(t *testing.T) {
	run := Run{Targets: []Target{{Name: "near"}, {Name: "far"}}, Facts: []Facts{{Memory: 8 << 20}, {Memory: 1 << 20}}}
	try := func(m, tau int, err string) { // err: "": it fits
		t.Helper()
		contains.Error(t, run.Fits(Request{Sizes: []int{1, m}, Taus: []int{1, tau}}), err)
	}
	try(512<<10, 8, "")
	try(512<<10, 9, "near takes 8M for messages, and τ = 9 with m = 512K needs 9M: let the host that listens")
	try(512<<10+1, 1, "far takes 1M for messages, and τ = 1 with m = 524289 B needs 1032K: let the host that listens")
	try(mostMessage, mostFlows, "needs 512G")
}

// impatient shortens the patience of both ends for a test.
func impatient(t *testing.T) {
	was := patience
	t.Cleanup(func() { patience = was })
	patience = 500 * time.Millisecond
}

// A peer with the secret that stops reading ends its run, and gets the reason.
func TestStopsReading(t *testing.T) {
	impatient(t)
	l, ended := hosting(t, &Host{Wait: time.Minute, Facts: Facts{Memory: 1 << 20}})
	run := begin(t, l)
	c := must.Get(call(t.Context(), run.Targets[0], secret, hello{Purpose: flowing, Run: run.ID}, false))
	defer c.Close()
	c.SetReadBuffer(4 << 10)
	const times = 1000 // of 32 KB: more unread bytes than kernels keep
	o := order{Operation: exchange, Tau: 1, Bytes: 32 << 10, Times: times}
	c.Write(encoded(o))
	c.SetWriteDeadline(time.Now().Add(10 * time.Second))
	for range times { // until the host stops reading, too
		if _, err := c.Write(make([]byte, o.Bytes)); err != nil {
			break
		}
	}
	err := run.Why(errHungUp)
	contains.All(t, err.Error(), errStuck.Error())
	run.End(err)
	check.ErrorIs(t, <-ended, errStuck, "the host")
}

// across starts a host in the namespace far, and calls f in near with a run and a launch.
func across(t *testing.T, near, far sandbox.Network, h *Host, f func(*Run, *sampler)) (ended <-chan error) {
	t.Helper()
	surveytest.Machine(t, 1)
	var l *net.TCPListener
	far.In(t, func() { l, ended = serving(t, h, "10.77.0.2:0") })
	near.In(t, func() {
		run := begin(t, l)
		s := lead(t, run.Targets, run)
		defer s.Close()
		s.cpus = s.cpus[:1] // the ends have different CPUs, as on two hosts
		f(run, s)
	})
	return ended
}

// One flow and four flows measure the rate that tc sets. A packet has 66 bytes of headers and 1448
// of payload. The difference of two sizes leaves out the bytes that pass the token bucket at once.
func TestFindsTheRate(t *testing.T) {
	const megabits = 400
	near, far := sandbox.Networks(t, fmt.Sprintf("tbf rate %dmbit burst 10kb limit 8mb", megabits))
	ended := across(t, near, far, &Host{Wait: time.Minute, Facts: Facts{Memory: 16 << 20}}, func(run *Run, s *sampler) {
		check.Equal(t, run.Interface, "veth0", "interface")
		check.Equal(t, run.Segment, 1448, "segment")
		for _, tau := range []int{1, 4} {
			var found []float64
			for range 20 { // other programs may disturb a sample
				var ns [2]float64
				for i, m := range []int{128 << 10, 512 << 10} {
					r, err := s.Sample(t.Context(), params.Key{Kind: params.NetCell, Tau: tau, Bytes: m}.Named("veth0:L"), 0)
					if err != nil {
						t.Error(err)
						return
					}
					ns[i] = r.NS
				}
				found = append(found, 8e3*float64(tau*(512-128)<<10)*1514/1448/(ns[1]-ns[0]))
				if rate := fit.Median(found).Center; len(found) >= 3 && math.Abs(rate/megabits-1) <= 0.1 {
					break
				}
			}
			if rate := fit.Median(found).Center; !(math.Abs(rate/megabits-1) <= 0.1) {
				report := t.Errorf
				if load := provenance.StartSteal("/").Load; rate < megabits && load > float64(runtime.NumCPU()) {
					report = t.Logf // other programs have the CPUs
				}
				report("%d flows find %.0f Mbit/s, want %d within 10 %%: %.0f", tau, rate, megabits, found)
			}
		}
		run.End(nil)
	})
	check.NoError(t, <-ended, "the host")
}

// A network that begins to drop packets ends the run at both ends, and the error of a call through it says so.
func TestBlackhole(t *testing.T) {
	near, far := sandbox.Networks(t, "")
	impatient(t)
	ended := across(t, near, far, &Host{Wait: time.Minute, Facts: Facts{Memory: 1 << 20}}, func(run *Run, s *sampler) {
		check.NoError(t, must.Err(s.Sample(t.Context(), smallExchange, 0)), "Sample")
		far.Drop(t, "10.77.0.1/32")
		_, err := s.Sample(t.Context(), smallExchange, 0)
		err = run.Why(err)
		check.True(t, errors.Is(err, errStuck) && strings.HasPrefix(err.Error(), "there: nothing moved for 500ms: "), "%v", err)
		run.End(err)
		contains.Error(t, must.Err(Begin(t.Context(), run.Targets, secret, time.Second)), "does not answer at all")
	})
	check.Error(t, <-ended, "the host reports no error")
}

// A host within a batch ends even if it is cut off from the leading host.
func TestCutOff(t *testing.T) {
	near, far := sandbox.Networks(t, "")
	impatient(t)
	h := &Host{Wait: time.Minute, Facts: Facts{Memory: 1 << 20}}
	ended := across(t, near, far, h, func(run *Run, s *sampler) {
		c, err := call(t.Context(), run.Targets[0], secret, hello{Purpose: flowing, Run: run.ID}, false)
		if err != nil {
			t.Error(err)
			return
		}
		c.Write([]byte{0}) // an order begins
		near.Drop(t, "10.77.0.2/32")
		far.Drop(t, "10.77.0.1/32")
	})
	select {
	case err := <-ended:
		check.ErrorIs(t, err, errStuck, "the host")
	case <-time.After(time.Minute):
		t.Error("it still waits")
	}
}

// In a new network namespace the interface lo is down, and root may bring it up.
func TestMain(m *testing.M) {
	noLoopback = loopback()
	os.Exit(m.Run())
}

// loopback brings the interface lo up.
func loopback() error {
	lo, err := net.InterfaceByName("lo")
	if err != nil || lo.Flags&net.FlagUp != 0 {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, r); err != nil {
		return err
	}
	r.SetUint16(r.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r); err != nil {
		return fmt.Errorf("it is down and cannot be brought up: %w", err)
	}
	return nil
}
