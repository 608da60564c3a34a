package model

import "github.com/taulop/taulop/collective"

// Linear is the model of D. Kang et al., "Benchmarking of HPC Systems", CENG 99-07, 1999, section
// 5.2.2: one startup T_s, and τ_d for each byte that a rank sends and receives at once, as fitted
// to a permutation, eq. (5). A step of one-way messages, in which a rank only sends or only
// receives, counts half.
//
// So a permutation and a round trip of a ping-pong cost T_s + m·τ_d, a scatter T_s + (P−1)m·τ_d/2,
// and a broadcast T_s + ⌈log2 P⌉m·τ_d/2.
type Linear struct {
	Startup float64 // T_s in seconds
	PerByte float64 // τ_d in seconds a byte
}

// Seconds is the cost of a schedule without its reductions and local copies.
func (l Linear) Seconds(s *collective.Schedule) float64 {
	halves := 0 // bytes of the longest message of each step, in one direction
	for stage, repeat := range s.Stages() {
		switch stage.Pattern {
		case collective.Exchange:
			halves += 2 * repeat * stage.Shape[0].Bytes
		case collective.OneWay, collective.Transfer:
			halves += repeat * stage.Shape[0].Bytes
		}
	}
	return l.Startup + float64(halves)/2*l.PerByte
}
