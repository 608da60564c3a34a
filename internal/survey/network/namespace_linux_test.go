package network

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/sandbox"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/params"
)

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
