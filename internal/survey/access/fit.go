package access

import (
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/params"
)

// A Fit is T = T_n·N + T_c·N_c + T_e·S, eq. (4) of usc-hpc-benchmarks-1999, of an
// operation on a type. The line's costs are T_n, T_c and T_e, in ns.
type Fit struct {
	Operation string
	Type      string
	OffCache  bool
	fit.Sum
}

// Fits are the fits of a file's cells, in the order of Operations and Types, in
// cache first. What has too few cells is left out.
func Fits(cells []params.Cell, lineBytes int) (fits []Fit) {
	type table struct {
		operation, typ string
		off            bool
	}
	terms, times := make(map[table][][]float64), make(map[table][]float64)
	for _, c := range cells {
		if p, ok := PassOf(c.Key); ok {
			t := table{p.Operation, p.Type, c.OffCache}
			terms[t] = append(terms[t], []float64{float64(p.N), float64(p.Lines(lineBytes)), float64(p.Stride)})
			times[t] = append(times[t], c.Time.Center)
		}
	}
	for _, off := range []bool{false, true} {
		for _, operation := range Operations {
			for _, typ := range Types {
				t := table{operation, typ, off}
				if line, err := fit.SumOf(terms[t], times[t]); err == nil {
					fits = append(fits, Fit{operation, typ, off, line})
				}
			}
		}
	}
	return slices.Clip(fits)
}
