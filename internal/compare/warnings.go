package compare

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/taulop/taulop/params"
)

// A Warning is what speaks against the numbers of some machines, or of all together.
type Warning struct {
	Machines []string // none: of all together
	What     error    // with the numbers of the first
}

func (w Warning) Error() string {
	if len(w.Machines) == 0 {
		return w.What.Error()
	}
	return w.Who() + ": " + w.What.Error()
}

func (w Warning) Unwrap() error { return w.What }

// Who are the machines, the first few by name.
func (w Warning) Who() string { return abridged(w.Machines) }

// MarshalText makes of warnings a list of sentences in JSON.
func (w Warning) MarshalText() ([]byte, error) { return []byte(w.Error()), nil }

// Told are the warnings of machines' files, each once, the widespread first. A fleet's warnings
// that differ in numbers alone are one.
func Told(machines []Machine) (all []Warning) {
	known := make(map[string]int)
	tell := func(machine string, what error) {
		key := what.Error()
		if len(machines) >= Fleet {
			key = number.ReplaceAllString(key, "0")
		}
		i, told := known[key]
		if !told {
			i = len(all)
			known[key] = i
			all = append(all, Warning{What: what})
		}
		if w := &all[i]; len(w.Machines) == 0 || w.Machines[len(w.Machines)-1] != machine {
			w.Machines = append(w.Machines, machine)
		}
	}
	for _, m := range machines {
		for _, text := range m.File.Warnings {
			tell(m.Name, errors.New(text))
		}
		if ascending := m.File.Plan.Ascending(); ascending != nil {
			tell(m.Name, fmt.Errorf("%w: measure it anew", ascending))
		}
		if !m.File.Complete {
			tell(m.Name, fmt.Errorf("the file is incomplete, cells are missing or have too few samples for an interval: %w", m.File.Completion()))
		}
	}
	slices.SortStableFunc(all, func(a, b Warning) int { return len(b.Machines) - len(a.Machines) })
	return all
}

var number = regexp.MustCompile(`[0-9]+([.,][0-9]+)*`)

// warnings are what speaks against comparing machines in some channels.
func warnings(machines []Machine, described []Described, channels []Channel) (all []Warning) {
	var without, broken []string
	for i, m := range machines {
		if !described[i].Samples {
			without = append(without, m.Name)
		}
		if slices.ContainsFunc(m.File.Bounds(), func(v params.Violation) bool {
			return slices.Contains(channels, Channel{v.Setup, v.Placement, v.OffCache, v.Bytes})
		}) {
			broken = append(broken, m.Name)
		}
	}
	if len(without) > 0 {
		all = append(all, Warning{without, errors.New("no samples: differences cannot be told from noise")})
	}
	all = append(append(all, differences(machines)...), Told(machines)...)
	if len(broken) > 0 {
		all = append(all, Warning{broken, errors.New("eq. (8), L(m,τ) ≤ L(m,Aτ) ≤ A·L(m,τ), is broken at a size that is compared")})
	}
	return all
}

// warn says what speaks against tables, and who is in none.
func (c *Comparison) warn(machines []Machine) {
	c.warnAbsent(machines)
	told := make(map[Channel]bool) // it may be there in several states
	for i := range c.Tables {
		if own := c.Tables[i].own(); len(own) > 0 && !told[c.Tables[i].Channel] {
			told[c.Tables[i].Channel] = true
			c.Warnings = append(c.Warnings, Warning{What: fmt.Errorf("%s, m = %d: L(m,1) of %s is of %s itself, not between two processes as on the others: it is not compared, nor is A(τ)",
				c.Tables[i].Channel, c.Tables[i].Bytes, abridged(own), c.Tables[i].Setup)})
		}
	}
	c.warnUnits()
}

// warnAbsent names machines that have nothing in common with another one.
func (c *Comparison) warnAbsent(machines []Machine) {
	there := make(map[string]bool)
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			there[r.Machine] = true
		}
	}
	for _, k := range c.Surveys {
		there[c.First(k.State)] = true
		for _, r := range k.Rows {
			there[r.Machine] = true
		}
	}
	var published, others []string
	measured, tables := false, false // that are compared
	for _, m := range machines {
		switch {
		case len(c.States) > 0 && !slices.ContainsFunc(c.States, func(s InState) bool { _, met := s.Of(m.Name); return met && common(s) }):
			// Compared says so.
		case there[m.Name]:
			measured, tables = measured || !m.Published(), tables || m.Published()
		case m.Published():
			published = append(published, m.Name)
		default:
			others = append(others, m.Name)
		}
	}
	advice := ErrChoice
	if tables && !measured { // which might be taken for what was measured on the others
		advice = ErrPublished
	}
	for _, absent := range []struct {
		names []string
		help  error
	}{{published, ErrPublished}, {others, advice}} {
		if len(absent.names) > 0 {
			c.Warnings = append(c.Warnings, Warning{absent.names, fmt.Errorf("not compared, for there is no setup, placement, cache and message size in common: %w", absent.help)})
		}
	}
}

// warnUnits warns of times that no two machines are apart.
func (c *Comparison) warnUnits() {
	const absurd = 500
	for _, t := range c.Tables {
		for _, r := range t.Rows[1:] {
			for _, b := range r.Points {
				if b.Ratio != nil && math.Abs(math.Log(b.Ratio.Value)) > math.Log(absurd) {
					c.Warnings = append(c.Warnings, Warning{What: fmt.Errorf("%s takes %.3g times as long as %s for m = %d, τ = %d: look whether its times are in the unit of its format, seconds in published files, ns in native ones",
						r.Machine, b.Ratio.Value, t.Rows[0].Machine, t.Bytes, b.Tau)})
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
func differences(machines []Machine) (all []Warning) {
	for _, like := range []struct {
		what string
		of   func(*params.File) string
	}{
		{"versions of taulop", func(f *params.File) string { return f.Provenance.Taulop }},
		{"ways to copy", func(f *params.File) string { return f.Plan.Copy }},
		{"states of idle cores", func(f *params.File) string {
			if f.Provenance.IdleCores == "" && len(f.Launches) > 0 {
				return "asleep"
			}
			return f.Provenance.IdleCores
		}},
		{"pages of buffers", func(f *params.File) string { return f.Provenance.Pages() }},
		{"intermediate buffers", func(f *params.File) string {
			if f.Plan.SegmentBytes == 0 {
				return ""
			}
			return fmt.Sprintf("%d segments of %d bytes", f.Plan.Segments, f.Plan.SegmentBytes)
		}},
	} {
		if kinds := mixed(machines, like.of); len(kinds) > 1 {
			all = append(all, Warning{What: fmt.Errorf("the machines were measured with different %s: %s", like.what, strings.Join(kinds, "; "))})
		}
	}
	return all
}
