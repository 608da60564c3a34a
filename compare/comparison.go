package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Choice is which curves are compared. What is empty is not restricted, but
// without Sizes it is the segment's size S alone.
type Choice struct {
	Setups     []string
	Placements []numa.Policy
	Caches     []bool // off cache
	Sizes      []int
}

// A Comparison is machines side by side.
type Comparison struct {
	Machines []Described `json:"machines"`
	Tables   []Table     `json:"tables"`
	Warnings []string    `json:"warnings"`
}

// A Described is what the reader must know of a machine.
type Described struct {
	Name    string `json:"machine"`
	Path    string `json:"file"`
	CPU     string `json:"cpu,omitempty"`
	Samples bool   `json:"samples"` // false: differences cannot be told from noise
}

// A Table is the machines that have a channel.
type Table struct {
	Channel
	Segment    bool   `json:"segment"` // m is the segment's size S
	Taus       []int  `json:"taus"`    // of any machine
	Rows       []Row  `json:"rows"`    // a machine each, in the order of files; ratios are to the first
	Conclusion string `json:"conclusion"`
}

// A Row is a machine's curve and what sums it up.
type Row struct {
	Machine     string           `json:"machine"`
	Points      []Beside         `json:"points"`
	Saturation  Saturation       `json:"saturation"`
	Scalability *fit.Scalability `json:"scalability,omitempty"`
	Poor        bool             `json:"poor_fit,omitempty"`
	Unfitted    string           `json:"unfitted,omitempty"` // why there is no fit
}

// A Beside is a point beside that of the first machine.
type Beside struct {
	Point
	Ratio *Ratio `json:"to_first,omitempty"` // nil for the first itself, and where that has no such τ
}

// A Ratio is L(m,τ) over that of the first machine: 2 is twice as slow.
type Ratio struct {
	Value  float64 `json:"ratio"`
	Tested bool    `json:"tested"` // both have samples
	P      float64 `json:"p,omitempty"`
	N1     int     `json:"n_first,omitempty"`
	N2     int     `json:"n,omitempty"`
	// Differs is false if samples such as these are seen by chance in more than
	// 1 of 20 cases where nothing differs (Mann–Whitney), and where there are none.
	Differs bool `json:"differs"`
}

// New compares machines. It fails where they have nothing in common, and says
// what each has.
func New(machines []Machine, choice Choice) (*Comparison, error) {
	if len(machines) < 2 {
		return nil, errors.New("a comparison takes two machines: name another file")
	}
	c := &Comparison{Warnings: []string{}}
	all := make([][]Curve, len(machines))
	for i, m := range machines {
		curves, err := Curves(m.Name, m.File)
		if err != nil {
			return nil, err
		}
		all[i] = curves
		c.Machines = append(c.Machines, describe(m, curves))
	}
	channels, err := choice.channels(all)
	if err != nil {
		return nil, err
	}
	for _, channel := range channels {
		c.Tables = append(c.Tables, newTable(channel, all))
	}
	c.warn(machines)
	return c, nil
}

func describe(m Machine, curves []Curve) Described {
	sampled := slices.ContainsFunc(curves, func(c Curve) bool {
		return slices.ContainsFunc(c.Points, func(p Point) bool { return len(p.Samples) > 0 })
	})
	return Described{m.Name, m.Path, m.File.Provenance.CPUModel, sampled}
}

// channels are those chosen that at least two machines have.
func (choice Choice) channels(all [][]Curve) ([]Channel, error) {
	owners := make(map[Channel]int)
	segments := make(map[int]bool)
	var order, chosen []Channel
	for _, curves := range all {
		for _, c := range curves {
			if !choice.admits(c.Channel) {
				continue
			}
			if owners[c.Channel]++; owners[c.Channel] == 1 {
				order = append(order, c.Channel)
			}
			segments[c.Bytes] = segments[c.Bytes] || c.Segment
		}
	}
	slices.SortStableFunc(order, func(a, b Channel) int { return a.order(b) })
	for _, c := range order {
		if owners[c] > 1 {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) > 0 && len(choice.Sizes) == 0 {
		sizes := choice.segmentSizes(chosen, segments)
		chosen = slices.DeleteFunc(chosen, func(c Channel) bool { return !slices.Contains(sizes, c.Bytes) })
	}
	if len(chosen) == 0 {
		return nil, choice.nothing(all)
	}
	return chosen, nil
}

func (choice Choice) admits(c Channel) bool {
	return (len(choice.Setups) == 0 || slices.Contains(choice.Setups, c.Setup)) &&
		(len(choice.Placements) == 0 || slices.Contains(choice.Placements, c.Placement)) &&
		(len(choice.Caches) == 0 || slices.Contains(choice.Caches, c.OffCache)) &&
		(len(choice.Sizes) == 0 || slices.Contains(choice.Sizes, c.Bytes))
}

// Customary is the segment's size of published files, which do not say it.
const Customary = 8192

// segmentSizes are the sizes S of segments, or what comes nearest to one.
func (choice Choice) segmentSizes(common []Channel, segments map[int]bool) (sizes []int) {
	largest := 0
	for _, c := range common {
		if segments[c.Bytes] && !slices.Contains(sizes, c.Bytes) {
			sizes = append(sizes, c.Bytes)
		}
		if c.Bytes == Customary {
			largest = Customary
		} else if largest != Customary {
			largest = max(largest, c.Bytes)
		}
	}
	if len(sizes) == 0 {
		sizes = append(sizes, largest)
	}
	return sizes
}

// order is that of Curves.
func (c Channel) order(o Channel) int {
	switch {
	case c.Setup != o.Setup:
		return strings.Compare(c.Setup, o.Setup)
	case c.Placement != o.Placement:
		return strings.Compare(string(c.Placement), string(o.Placement))
	case c.OffCache != o.OffCache:
		if o.OffCache {
			return -1
		}
		return 1
	}
	return c.Bytes - o.Bytes
}

// nothing says what machines have that nothing could be compared of.
func (choice Choice) nothing(all [][]Curve) error {
	const most = 3
	var has []string
	published, measured := false, false
	for _, curves := range all[:min(len(all), most)] {
		var names []string
		for _, c := range curves {
			published = published || c.Setup == params.Published
			measured = measured || c.Setup != params.Published
			if name := c.Channel.String(); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		sizes := make([]string, 0, len(curves))
		for _, c := range curves {
			if c.Channel.String() == names[0] {
				sizes = append(sizes, strconv.Itoa(c.Bytes))
			}
		}
		if len(sizes) > 8 {
			sizes = append(append(sizes[:6:6], "…"), sizes[len(sizes)-1])
		}
		has = append(has, fmt.Sprintf("%s has %s for m = %s", curves[0].Machine, strings.Join(names, "; "), strings.Join(sizes, ", ")))
	}
	if len(all) > most {
		has = append(has, "…")
	}
	advice := "choose others with -setup, -placement, -cache and -m, or sweep both alike"
	if published && measured {
		advice = "published files do not say how they were measured: -as ring takes them for that"
	}
	return fmt.Errorf("no two machines have a setup, placement, cache and message size in common: %s; %s", strings.Join(has, "; "), advice)
}

func newTable(channel Channel, all [][]Curve) Table {
	t := Table{Channel: channel}
	var first *Curve
	for _, curves := range all {
		i := slices.IndexFunc(curves, func(c Curve) bool { return c.Channel == channel })
		if i < 0 {
			continue
		}
		curve := &curves[i]
		t.Rows = append(t.Rows, newRow(curve, first))
		t.Segment = t.Segment || curve.Segment
		if first == nil {
			first = curve
		}
		for _, p := range curve.Points {
			if at, found := slices.BinarySearch(t.Taus, p.Tau); !found {
				t.Taus = slices.Insert(t.Taus, at, p.Tau)
			}
		}
	}
	t.Conclusion = t.conclude()
	return t
}

func newRow(curve, first *Curve) Row {
	r := Row{Machine: curve.Machine, Saturation: saturation(curve.Points)}
	var taus []int
	var L []float64
	for _, p := range curve.Points {
		b := Beside{Point: p}
		if first != nil {
			if one, measured := first.At(p.Tau); measured {
				b.Ratio = ratio(one, p)
			}
		}
		r.Points = append(r.Points, b)
		taus, L = append(taus, p.Tau), append(L, p.L.Center)
	}
	s, err := fit.ScalabilityOf(taus, L)
	if err != nil {
		r.Unfitted = err.Error()
		return r
	}
	r.Scalability, r.Poor = &s, s.Poor()
	return r
}

// ratio compares two times as benchstat does.
func ratio(first, p Point) *Ratio {
	r := &Ratio{Value: p.L.Center / first.L.Center}
	if !(first.L.Center > 0) || math.IsInf(r.Value, 0) {
		return nil
	}
	if len(first.Samples) == 0 || len(p.Samples) == 0 {
		return r
	}
	sample := func(values []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	}
	test := benchmath.AssumeNothing.Compare(sample(first.Samples), sample(p.Samples))
	r.Tested, r.P, r.N1, r.N2 = true, test.P, test.N1, test.N2
	r.Differs = test.P < test.Alpha
	return r
}

// At is the row's point of a τ.
func (r *Row) At(tau int) (b Beside, measured bool) {
	for _, b := range r.Points {
		if b.Tau == tau {
			return b, true
		}
	}
	return Beside{}, false
}

// Alone is L(m,1), with NaN in its centre where that was not measured.
func (r *Row) Alone() fit.Estimate {
	if b, measured := r.At(1); measured {
		return b.L
	}
	return fit.Median(nil)
}

// warn says what else differs between files, and what speaks against them.
func (c *Comparison) warn(machines []Machine) {
	say := func(format string, args ...any) { c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...)) }
	var without []string
	for _, m := range c.Machines {
		if !m.Samples {
			without = append(without, m.Name)
		}
	}
	if len(without) > 0 {
		say("%s: no samples, so that its differences cannot be told from noise", abridged(without))
	}
	c.Warnings = append(c.Warnings, differences(machines)...)
	for _, m := range machines {
		if !m.File.Complete {
			say("%s is incomplete: taulop sweep -resume measures what is missing", m.Path)
		}
	}
	c.warnUnits(say)
	for _, m := range machines {
		broken := 0
		for _, w := range m.File.Warnings {
			if strings.HasPrefix(w, "eq. (8)") {
				broken++
				continue
			}
			say("%s: %s", m.Name, w)
		}
		if broken > 0 {
			say("%s: eq. (8) is broken in %d places, which its file lists", m.Name, broken)
		}
	}
}

// warnUnits warns of times that no two machines are apart.
func (c *Comparison) warnUnits(say func(string, ...any)) {
	const absurd = 500
	for _, t := range c.Tables {
		for _, r := range t.Rows[1:] {
			for _, b := range r.Points {
				if b.Ratio != nil && math.Abs(math.Log(b.Ratio.Value)) > math.Log(absurd) {
					say("%s takes %.3g times as long as %s for m = %d, τ = %d: look whether its times are in the unit of its format, seconds in published files, ns in native ones",
						r.Machine, b.Ratio.Value, t.Rows[0].Machine, t.Bytes, b.Tau)
					return
				}
			}
		}
	}
}

// mixed are the different values, each with a machine that has it; what is
// unknown counts as none.
func mixed(machines []Machine, of func(*params.File) string) (kinds []string) {
	seen := make(map[string]bool)
	for _, m := range machines {
		if v := of(m.File); v != "" && !seen[v] {
			seen[v] = true
			kinds = append(kinds, fmt.Sprintf("%s (%s)", v, m.Name))
		}
	}
	if len(kinds) > 4 {
		kinds = append(kinds[:3:3], fmt.Sprintf("and %d more", len(kinds)-3))
	}
	return kinds
}

func abridged(names []string) string {
	if len(names) > 6 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:4], ", "), len(names)-4)
	}
	return strings.Join(names, ", ")
}

// Curves are the table's, a machine each.
func (t *Table) Curves() []Curve {
	curves := make([]Curve, len(t.Rows))
	for i, r := range t.Rows {
		curves[i] = Curve{Machine: r.Machine, Channel: t.Channel, Segment: t.Segment}
		for _, b := range r.Points {
			curves[i].Points = append(curves[i].Points, b.Point)
		}
	}
	return curves
}
