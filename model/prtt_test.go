package model

import (
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
)

// trips are the round trips of a LogGP channel: a single one is two messages of eq. (1), and of n messages
// each follows after the gap, or after the sender's time and delay if these are longer.
func trips(m LogGP, sizes ...int) (all []RoundTrip) {
	const n = 16
	for _, bytes := range sizes {
		rest := float64(bytes-1) * m.GapPerByte
		single := 2 * (m.Latency + 2*m.Overhead + rest)
		for _, t := range []RoundTrip{{N: 1}, {N: n}, {N: n, Delay: single}} {
			t.Bytes = bytes
			t.Seconds = single + float64(t.N-1)*max(m.Overhead+t.Delay, m.Gap+rest)
			all = append(all, t)
		}
	}
	return all
}

func TestAssessLogGP(t *testing.T) {
	for _, want := range []LogGP{
		{Latency: 5e-6, Overhead: 1e-6, Gap: 2e-6, GapPerByte: 1e-9},
		{Latency: 1e-7, Overhead: 3e-8, Gap: 9e-8, GapPerByte: 2e-10},
	} {
		got, warnings, err := assessLogGP(trips(want, 65536, 1, 1024, 8192), fit.Estimate{})
		check.Need(t, err == nil && len(warnings) == 0, "%v, %v", warnings, err)
		for _, p := range [][2]float64{{got.Latency, want.Latency}, {got.Overhead, want.Overhead}, {got.Gap, want.Gap}, {got.GapPerByte, want.GapPerByte}} {
			check.Near(t, p[0], p[1], 1e-6*p[1], "a parameter of %+v", got)
		}
	}
}

// L below zero is taken as 0 and o as half of the message, so that eq. (1) twice is PRTT(1,0,m). This is a
// warning unless the interval of L includes 0. Without a receiver's time the sender's counts.
func TestAssessLogGPBelowZero(t *testing.T) {
	const send = 60e-9
	channel := LogGP{Latency: 20e-9, Overhead: 40e-9, Gap: 90e-9, GapPerByte: 1e-10}
	try := func(receive float64, within fit.Estimate, says string) {
		t.Helper()
		all := trips(channel, 1, 4096)
		for i := range all {
			if all[i].Delay > 0 {
				all[i].Seconds += float64(all[i].N-1) * (send - channel.Overhead)
				all[i].Receive = receive
			}
		}
		m, warnings, err := assessLogGP(all, within)
		check.True(t, err == nil && len(warnings) <= 1 && (len(warnings) == 1) == (says != "") && (len(warnings) != 1 || strings.Contains(warnings[0].Error(), says)),
			"%+v: %v, %v; want %q", within, warnings, err, says)
		check.True(t, m.Latency == 0 && math.Abs(m.Overhead-50e-9) <= 1e-15, "%+v, want half of the 100 ns of a message", m)
	}
	try(45e-9, fit.Estimate{Center: -5e-9, Lo: -9e-9, Hi: 2e-9, N: 6}, "")
	try(45e-9, fit.Estimate{Center: -5e-9, Lo: -9e-9, Hi: -1e-9, N: 6}, "are together more than the 100 ns of a message")
	try(45e-9, fit.Estimate{}, "are together more than the 100 ns of a message")
	try(0, fit.Estimate{}, "or the receiver's was not measured")
}

func TestAssessLogGPDoubtsAndRefuses(t *testing.T) {
	channel := LogGP{Latency: 5e-6, Overhead: 1e-6, Gap: 2e-6, GapPerByte: 1e-9}
	short := trips(channel, 1, 8192)
	for i, trip := range short {
		short[i].Delay = min(trip.Delay, 1e-7)
	}
	_, warnings, err := assessLogGP(short, fit.Estimate{})
	check.True(t, err == nil && len(warnings) > 0, "a short delay: %v, %v", warnings, err)
	try := func(trips []RoundTrip, says string) {
		t.Helper()
		_, _, err := assessLogGP(trips, fit.Estimate{})
		contains.Error(t, err, says)
	}
	try(nil, "a delay d > 0")
	try(trips(channel, 1), "there are 1 of one size")
	try(trips(channel, 1, 8192)[:2], "a delay d > 0")
	try(append(trips(channel, 1), RoundTrip{N: 16, Bytes: 8192}, RoundTrip{N: 1, Bytes: 8192}), "0 is no time to fit")
}
