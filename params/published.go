package params

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
)

// FromText makes a native file of published tables; gamma may be nil. Setup and placement of its cells are
// Published, in cache; there are no samples and no intervals. Table and Gamma return the same numbers.
func FromText(t *Table, gamma *Gamma) *File {
	f := &File{Format: Format, Version: Version, Complete: true, Plan: Plan{
		Setups: []string{Published}, Policies: []numa.Policy{Published}, Caches: []bool{false},
		Sizes: slices.Clone(t.Transfers.Sizes), Taus: slices.Clone(t.Transfers.Taus),
	}}
	for row, m := range t.Transfers.Sizes {
		for i, tau := range t.Transfers.Taus {
			f.publish(Key{Kind: TransferCell, Setup: Published, Tau: tau, Bytes: m}, t.Transfers.Times[row][i])
		}
		f.publish(Key{Kind: OverheadCell, Tau: 1, Bytes: m}, t.Overheads[row])
	}
	if t.Doubt != nil {
		f.Warn(t.Doubt)
	}
	if gamma == nil {
		return f
	}
	if gamma.Doubt != nil {
		f.Warn(gamma.Doubt)
	}
	for _, o := range gamma.Operators {
		f.Plan.Operators = append(f.Plan.Operators, o.Name)
		for row, m := range o.Sizes {
			taus := o.Taus
			if len(taus) == 0 {
				taus = []int{0} // any
			}
			for i, tau := range taus {
				f.publish(Key{Kind: GammaCell, Operator: o.Name, Tau: tau, Bytes: m}, o.Times[row][i])
			}
		}
	}
	return f
}

// publish adds a cell of a published time, without an interval.
func (f *File) publish(k Key, seconds float64) {
	k.Placement = Published
	f.Cells = append(f.Cells, Cell{Key: k, Time: fit.Unbounded(nanoseconds(seconds))})
}

// nanoseconds moves the decimal point of seconds: 0.000000425762 becomes 425.762, not 425.76199999999994.
func nanoseconds(seconds float64) float64 {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(seconds, 'e', -1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	ns, _ := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(e+9), 64) // a number, and far from overflow
	return ns
}

// Fill adds what WriteText needs: every τ from 1 to the largest, and 1 byte as the first size. Added values
// come from L and O; missing lists them in sentences. It fails for an empty table, and for one that
// exceeds the limits of ReadText.
func (t *Table) Fill() (full *Table, missing []string, err error) {
	sizes, taus := t.Transfers.Sizes, t.Transfers.Taus
	if len(sizes) == 0 || len(taus) == 0 {
		return nil, nil, errors.New("text format: a table needs a size and a τ")
	}
	if most := taus[len(taus)-1]; most > maxCells/(len(sizes)+1) {
		return nil, nil, fmt.Errorf("text format: every τ from 1 to %d for %d sizes is more than %d times", most, len(sizes), maxCells)
	}
	full = &Table{}
	if sizes[0] > 1 {
		full.Transfers.Sizes = []int{1}
		missing = append(missing, fmt.Sprintf("m = 1 was not measured: its row is that of m = %d", sizes[0]))
	}
	full.Transfers.Sizes = append(full.Transfers.Sizes, sizes...)
	var between []int
	for tau := 1; tau <= taus[len(taus)-1]; tau++ {
		full.Transfers.Taus = append(full.Transfers.Taus, tau)
		if _, measured := slices.BinarySearch(taus, tau); measured {
			continue
		}
		if tau < taus[0] {
			missing = append(missing, fmt.Sprintf("τ = %d was not measured: its column is that of τ = %d", tau, taus[0]))
		} else {
			between = append(between, tau)
		}
	}
	if len(between) > 0 {
		missing = append(missing, "not measured, but on the line between their neighbours, are τ = "+listed(between))
	}
	for _, m := range full.Transfers.Sizes {
		o, _ := t.O(m)
		full.Overheads = append(full.Overheads, o)
		row := make([]float64, len(full.Transfers.Taus))
		for i, tau := range full.Transfers.Taus {
			row[i], _ = t.L(m, tau)
		}
		full.Transfers.Times = append(full.Transfers.Times, row)
	}
	return full, missing, nil
}

// abridged joins texts, without the middle of long lists.
func abridged(texts []string) string {
	if len(texts) > 12 {
		texts = append(append(slices.Clone(texts[:8]), "…"), texts[len(texts)-1])
	}
	return strings.Join(texts, ", ")
}

// Fit makes γ fit WriteGammaText and the readers of its files: γ(m,1) of all operators except Scalar ones
// at the sizes of the table that goes with it. The first size may be larger than the table's, since no
// element has one byte. Values that were not measured come from the operators' curves; missing lists them
// in a sentence.
func (g *Gamma) Fit(sizes []int) (fitted *Gamma, missing []string) {
	sizes = slices.Clone(sizes)
	if len(g.Operators) == 0 || len(sizes) == 0 {
		return g, nil
	}
	least := slices.Min(lists.Map(g.Operators, func(o Operator) int { return o.Sizes[0] }))
	if least > sizes[0] && (len(sizes) == 1 || least < sizes[1]) {
		sizes[0] = least
	}
	fitted = &Gamma{}
	var lacking []int
	for _, o := range g.Operators {
		if strings.HasSuffix(o.Name, Scalar) {
			continue
		}
		curve := Curve{Sizes: sizes}
		for _, m := range sizes {
			v, _ := o.At(m, 1)
			curve.Times = append(curve.Times, []float64{v})
			if _, measured := slices.BinarySearch(o.Sizes, m); !measured {
				lacking = lists.Insert(lacking, m)
			}
		}
		fitted.Operators = append(fitted.Operators, Operator{o.Name, curve})
	}
	if len(lacking) > 0 {
		missing = []string{"γ of some operators was not measured for m = " + listed(lacking) + " and follows from its neighbours"}
	}
	return fitted, missing
}
