package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/taulop/taulop/params"
)

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
		say("%s: no samples: differences cannot be told from noise", abridged(without))
	}
	c.Warnings = append(c.Warnings, differences(machines)...)
	for _, m := range machines {
		if !m.File.Complete {
			say("%s is incomplete: %s", m.Path, m.File.Completion())
		}
	}
	for i := range c.Tables {
		if own := c.Tables[i].own(); len(own) > 0 {
			say("%s, m = %d: L(m,1) of %s is of %s itself, not between two processes as on the others: it is not compared, nor is A(τ)",
				c.Tables[i].Channel, c.Tables[i].Bytes, abridged(own), c.Tables[i].Setup)
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

// differences are in how machines were measured.
func differences(machines []Machine) (all []string) {
	for _, like := range []struct {
		what string
		of   func(*params.File) string
	}{
		{"versions of taulop", func(f *params.File) string { return f.Provenance.Taulop }},
		{"ways to copy", func(f *params.File) string { return f.Plan.Copy }},
		{"intermediate buffers", func(f *params.File) string {
			if f.Plan.SegmentBytes == 0 {
				return ""
			}
			return fmt.Sprintf("%d segments of %d bytes", f.Plan.Segments, f.Plan.SegmentBytes)
		}},
	} {
		if kinds := mixed(machines, like.of); len(kinds) > 1 {
			all = append(all, fmt.Sprintf("the machines were measured with different %s: %s", like.what, strings.Join(kinds, "; ")))
		}
	}
	return all
}
