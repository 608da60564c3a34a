package page

import (
	"html/template"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/report"
)

// A fleet is many machines beside their median.
type fleet struct {
	Conclusion string
	Why        string        // nothing was compared
	Tables     template.HTML // as taulop compare has them
	warnings   []compare.Warning
	kinds      []compare.FleetKind
}

// drawn is how many machines charts begin with, beside the median: outliers, if
// anything was compared.
const drawn = 3

// newFleet compares segments as taulop compare does.
func newFleet(machines []compare.Machine, x *index) (*fleet, error) {
	v := &fleet{}
	o, err := compare.NewOverview(machines, compare.Choice{})
	if err != nil {
		v.Why = err.Error()
		for n := range drawn {
			x.First = append(x.First, n)
		}
		return v, nil
	}
	v.Conclusion, v.warnings = strings.TrimSpace(o.Means+" "+o.Conclusion()), o.Warnings
	if o.State != nil {
		v.Conclusion = "In the state that most machines have been in" + o.State.Title() + ": " + v.Conclusion
	}
	v.Tables = rendered(report.Overview(o))
	x.begin(o)
	v.kinds = o.Surveys
	for i, m := range machines {
		if o.State == nil {
			break
		}
		x.curves[i] = nil
		if of, met := o.State.Of(m.Name); met {
			in, err := m.In(of.NS)
			if err != nil {
				return nil, err
			}
			x.curves[i], _ = compare.Curves(m.Name, in.File) // as in describe
		}
	}
	return v, nil
}

// begin chooses the machines that charts begin with: those that are farthest off, in transfers
// and where these show fewer in surveys.
func (x *index) begin(o *compare.Overview) {
	var off []string
	for _, out := range o.Outliers {
		off = append(off, out.Machine)
	}
	for _, k := range o.Surveys {
		for _, out := range k.Outliers {
			off = append(off, out.Machine)
		}
	}
	off = lists.Unique(off)
	for _, name := range off[:min(drawn, len(off))] {
		x.First = append(x.First, slices.IndexFunc(x.of, func(m compare.Machine) bool { return m.Name == name }))
	}
}
