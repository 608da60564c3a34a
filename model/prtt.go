package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A RoundTrip is PRTT(n,d,m), a parametrised round trip: a client sends N messages of Bytes with Delay
// between them, and the server answers the last one with one of the same size. Hoefler, Lichei and
// Rehm, "Low-overhead LogGP parameter assessment for modern interconnection networks", IPDPS 2007.
type RoundTrip struct {
	N       int
	Delay   float64 // seconds
	Bytes   int
	Seconds float64 // PRTT(N,Delay,Bytes)
	// Receive is the server's time of receiving one of the messages, from when it sees the message until
	// it waits for the next; 0: not measured.
	Receive float64
}

// roundTrips are a file's round trips of a placement. Differences between several messages and one, and L in
// seconds, see assessLogGP, are taken within launches, as the distance of two cores differs between launches. L
// has N = 0 where a part of it was not measured.
func roundTrips(f *params.File, placement numa.Policy, offCache bool) (trips []RoundTrip, latency fit.Estimate) {
	singles := make(map[int]*params.Cell)
	received := make(map[params.Key]*params.Cell) // by the key of its round trip
	var all []*params.Cell                        // but the receivers'
	for i := range f.Cells {
		c, key := &f.Cells[i], f.Cells[i].Key
		switch {
		case c.Kind != params.PRTTCell || c.Placement != placement || c.OffCache != offCache:
		case c.Variant == params.Receiver:
			key.Variant = nil
			received[key] = c
		case c.Variant == nil:
			if all = append(all, c); c.N == 1 && c.Delay == 0 {
				singles[c.Bytes] = c
			}
		}
	}
	least := math.MaxInt
	for _, c := range all {
		trip := RoundTrip{N: c.N, Delay: time.Duration(c.Delay).Seconds(), Bytes: c.Bytes, Seconds: c.Time.Center / 1e9}
		single, server := singles[c.Bytes], received[c.Key]
		if single != nil && single != c {
			trip.Seconds = (single.Time.Center + c.Less(f, params.Part{Cell: single, Times: 1}).Center) / 1e9
		}
		if server != nil {
			trip.Receive = server.Time.Center / 1e9
		}
		if single != nil && server != nil && c.N > 1 && c.Bytes < least {
			least = c.Bytes
			// PRTT(1,0,m)(1/2 + 1/(n−1)) − PRTT(n,d,m)/(n−1) − o_r + d
			each := 1 / float64(c.N-1)
			times := 0.5 + each
			latency = single.Less(f, params.Part{Cell: c, Times: each / times}, params.Part{Cell: server, Times: 1 / times}).Scale(times / 1e9)
			latency.Center, latency.Lo, latency.Hi = latency.Center+trip.Delay, latency.Lo+trip.Delay, latency.Hi+trip.Delay
		}
		trips = append(trips, trip)
	}
	return trips, latency
}

// assessLogGP estimates the parameters of LogGP from round trips. The gap between back-to-back
// messages,
//
//	(PRTT(n,0,m) − PRTT(1,0,m))/(n−1) = g + (m−1)G,
//
// is a line over m, see fit.SumOf. A delay longer than the gap leaves the sender's own
// time,
//
//	o_s = (PRTT(n,d,m) − PRTT(1,0,m))/(n−1) − d,
//
// at the smallest m. The receiver's o_r is measured beside it, and is less in shared memory, where only
// the sender waits to own a cache line; not measured it counts as o_s. LogGP has one o,
// (o_s + o_r)/2, and a single round trip is two messages of eq. (1), so at the smallest m
//
//	L = PRTT(1,0,m)/2 − 2o − (m−1)G.
//
// Below zero L becomes 0 and o half of a message, so that eq. (1) still gives the round trip. This is
// a warning unless L's interval includes 0; there are other warnings. It fails where round trips are
// missing.
func assessLogGP(trips []RoundTrip, latency fit.Estimate) (m LogGP, warnings []error, err error) {
	singles := make(map[int]float64)
	for _, t := range trips {
		if t.N == 1 && t.Delay == 0 {
			singles[t.Bytes] = t.Seconds
		}
	}
	trips = slices.Clone(trips)
	slices.SortStableFunc(trips, func(a, b RoundTrip) int { return a.Bytes - b.Bytes })

	var sizes [][]float64 // 1 for g, m − 1 for G
	var gaps []float64
	var delayed *RoundTrip // of the smallest size
	for i, t := range trips {
		single, there := singles[t.Bytes]
		switch {
		case t.N < 2 || !there:
		case t.Delay == 0:
			sizes = append(sizes, []float64{1, float64(t.Bytes - 1)})
			gaps = append(gaps, (t.Seconds-single)/float64(t.N-1))
		case delayed == nil:
			delayed = &trips[i]
		}
	}
	if delayed == nil {
		return LogGP{}, nil, errors.New("LogGP needs PRTT(1,0,m) and PRTT(n,d,m) of the same m with n ≥ 2 and a delay d > 0, for o and L")
	}
	if i := slices.IndexFunc(sizes, func(s []float64) bool { return s[1] != sizes[0][1] }); i < 0 {
		return LogGP{}, nil, fmt.Errorf("LogGP needs PRTT(1,0,m) and PRTT(n,0,m) with n ≥ 2 for two sizes m or more, for g and G: there are %d of one size or none", len(sizes))
	}
	line, err := fit.SumOf(sizes, gaps)
	if err != nil {
		return LogGP{}, nil, fmt.Errorf("LogGP needs PRTT(1,0,m) and PRTT(n,0,m) with n ≥ 2 for two sizes m or more, for g and G: %w", err)
	}
	m.Gap, m.GapPerByte = line.Costs[0].Value, line.Costs[1].Value
	single, bytes := singles[delayed.Bytes], delayed.Bytes
	send := (delayed.Seconds-single)/float64(delayed.N-1) - delayed.Delay
	receive := cmp.Or(delayed.Receive, send)
	m.Overhead, m.Measured = (send+receive)/2, latency
	message := single/2 - float64(bytes-1)*m.GapPerByte
	if m.Latency = message - send - receive; m.Latency < 0 && message > 0 {
		if !(latency.N > 0 && latency.Known() && latency.Hi >= 0) {
			warnings = append(warnings, fmt.Errorf("LogGP's o of the sender, %.4g ns, and of the receiver, %.4g ns, are together more than the %.4g ns of a message: something disturbed one of the measurements, or the receiver's was not measured and counts as the sender's; L is taken as 0 and o as half of the message: sweep anew, or for longer",
				1e9*send, 1e9*receive, 1e9*message))
		}
		m.Latency, m.Overhead = 0, message/2
	}
	if m.Latency < 0 || m.Overhead < 0 || m.Gap == 0 || m.GapPerByte == 0 { // the fit gives 0 for less
		warnings = append(warnings, fmt.Errorf("LogGP's assumptions do not hold for this channel: L, o, g and G come out as %.3g, %.3g, %.3g and %.3g s, and none can be zero or less", m.Latency, m.Overhead, m.Gap, m.GapPerByte))
	}
	if gap := m.Gap + float64(bytes-1)*m.GapPerByte; delayed.Delay < gap {
		warnings = append(warnings, fmt.Errorf("the delay of %.3g s is shorter than the gap of %.3g s that it must exceed: LogGP's o and L are doubtful", delayed.Delay, gap))
	}
	return m, warnings, nil
}
