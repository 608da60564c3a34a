package chart

import (
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// metropolis8K is L(8K,1) … L(8K,8) in ns, of the published parameters of
// Metropolis (taulop-2015, Fig. 21).
var metropolis8K = []float64{3046.6, 3521.025, 5012.675, 5278.775, 5912.075, 6289.475, 6593.125, 6548.225}

// fromText is a machine in the published format, with as many τ as it has times.
func fromText(name string, sizes []int, times ...float64) compare.Machine {
	t := &params.Table{Overheads: make([]float64, len(sizes))}
	t.Transfers.Sizes = sizes
	for i := range times {
		t.Transfers.Taus = append(t.Transfers.Taus, i+1)
	}
	for _, m := range sizes {
		row := make([]float64, len(times))
		for i, ns := range times {
			row[i] = ns * 1e-9 * float64(m) / 8192
		}
		t.Transfers.Times = append(t.Transfers.Times, row)
	}
	f := params.FromText(t, nil)
	f.Provenance.Hostname = name
	return compare.Machine{Name: name, Path: name, File: f}
}

// swept is a machine as taulop sweep writes it, whose memory carries one transfer
// at once, in time; off cache it takes twice as long.
func swept(name string, setups []string, placements []numa.Policy, taus ...int) compare.Machine {
	f := &params.File{Format: params.Format, Version: params.Version, Provenance: provenance.Provenance{Hostname: name}, Plan: params.Plan{
		Setups: setups, Policies: placements, Sizes: []int{1, 64, 8192, 1 << 20}, Taus: taus, Caches: []bool{false, true}, SegmentBytes: 8192}}
	for _, off := range f.Plan.Caches {
		for _, placement := range placements {
			for _, tau := range taus {
				for _, m := range f.Plan.Sizes {
					ns := float64(100+m) * float64(tau)
					if off {
						ns *= 2
					}
					cell := params.Cell{Key: params.Key{Kind: params.CopyCell, Placement: placement, OffCache: off, Tau: tau, Bytes: m}, Time: about(ns / 2)}
					f.Cells = append(f.Cells, cell)
					for _, setup := range setups {
						cell := params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: setup, Placement: placement, OffCache: off, Tau: tau, Bytes: m},
							K: max(1, m/8192), Transfers: 1, Time: about(ns)}
						f.Cells = append(f.Cells, cell)
					}
				}
			}
		}
	}
	return compare.Machine{Name: name, Path: name, File: f}
}

func about(ns float64) fit.Estimate {
	return fit.Estimate{Center: ns, Lo: 0.8 * ns, Hi: 1.3 * ns, N: 9}
}

// verified is what taulop verify could write: τ-Lop is right, log_nP predicts half
// and LogGP twice of what was measured.
func verified(algorithms ...string) *verify.Result {
	v := &verify.Result{Setting: verify.Setting{Provenance: provenance.Provenance{Hostname: "vm"}, SegmentBytes: 8192}}
	for _, off := range []bool{false, true} {
		for _, name := range algorithms {
			for _, m := range []int{0, 1024, 65536, 4 << 20} {
				ns := 500 + float64(m)/8
				r := verify.Row{Name: name, P: 4, Bytes: m, OffCache: off, Measured: about(ns)}
				for i, share := range []float64{1, 0.5, 2} {
					r.Predicted = append(r.Predicted, verify.Prediction{Model: []string{verify.Full, "log_nP", "LogGP"}[i], Ns: share * ns})
				}
				v.Rows = append(v.Rows, r)
			}
		}
	}
	return v
}
