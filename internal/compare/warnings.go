package compare

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// A Warning concerns some machines, or the comparison.
type Warning struct {
	Machines []string // none: the comparison
	What     error    // with the numbers of the first machine
}

func (w Warning) Error() string {
	return printable.If(len(w.Machines) > 0, w.Who()+": ") + w.What.Error()
}

func (w Warning) Unwrap() error { return w.What }

// Who names the machines, the first few of many.
func (w Warning) Who() string { return abridged(w.Machines) }

// MarshalText makes a warning a sentence in JSON.
func (w Warning) MarshalText() ([]byte, error) { return []byte(w.Error()), nil }

// Told are the warnings of machines' files, each once, the most frequent first. For a fleet,
// warnings that differ only in numbers are one.
func Told(machines []Machine) []Warning {
	names := lists.Map(machines, func(m Machine) string { return m.Name })
	return together(names, lists.Map(machines, func(m Machine) []error { return told(m.File) }))
}

// told are a file's warnings.
func told(f *params.File) (all []error) {
	all = append(lists.Map(f.Warnings, errors.New), doubt.OfMemory(f)...)
	if !f.Complete {
		all = append(all, fmt.Errorf("the file is incomplete, cells are missing or have too few samples for an interval: %w", f.Completion()))
	}
	return all
}

// together merges warnings of machines as Told does.
func together(machines []string, said [][]error) (all []Warning) {
	var each []Warning
	for i, errs := range said {
		for _, what := range errs {
			each = append(each, Warning{machines[i : i+1], what})
		}
	}
	statement := func(w Warning) string {
		if len(machines) < Fleet {
			return w.What.Error()
		}
		return number.ReplaceAllString(w.What.Error(), "0")
	}
	for _, alike := range lists.Groups(each, statement) {
		who := lists.Concat(alike, func(w Warning) []string { return w.Machines })
		all = append(all, Warning{slices.Compact(who), alike[0].What})
	}
	slices.SortStableFunc(all, func(a, b Warning) int { return len(b.Machines) - len(a.Machines) })
	return all
}

var number = regexp.MustCompile(`[0-9]+([.,][0-9]+)*`)

// Doubts are the reasons in a file against comparing it with others.
type doubts struct {
	told   []error
	alike  []string  // values of alike
	broken []Channel // that break eq. (8)
}

func doubtsOf(f *params.File, transfers []params.Transfers) *doubts {
	d := &doubts{told: told(f), alike: lists.Map(alike, func(a property) string { return a.of(f) })}
	d.broken = lists.Unique(lists.Map(doubt.Bounds(transfers), func(v doubt.Violation) Channel {
		return Channel{v.Setup, v.Placement, v.OffCache, v.Bytes}
	}))
	return d
}

// warningsOf are warnings about comparing machines in some channels.
func warningsOf(of []*doubts, described []Described, channels []Channel) (all []Warning) {
	var names, without, broken []string
	var said [][]error
	for i, d := range of {
		name := described[i].Name
		names, said = append(names, name), append(said, d.told)
		if !described[i].Samples {
			without = append(without, name)
		}
		if slices.ContainsFunc(d.broken, func(c Channel) bool { return slices.Contains(channels, c) }) {
			broken = append(broken, name)
		}
	}
	if len(without) > 0 {
		all = append(all, Warning{without, errors.New("no samples: differences cannot be told from noise")})
	}
	for i, a := range alike {
		if kinds := mixed(names, of, i); len(kinds) > 1 {
			all = append(all, Warning{What: fmt.Errorf("the machines were measured with different %s: %s", a.what, strings.Join(kinds, "; "))})
		}
	}
	all = append(all, together(names, said)...)
	if len(broken) > 0 {
		all = append(all, Warning{broken, errors.New("at a compared size L is outside its bounds: eq. (8), L(m,τ) ≤ L(m,Aτ) ≤ A·L(m,τ)")})
	}
	return all
}

// warn adds warnings about tables, and about machines in no table.
func (c *Comparison) warn(machines []Machine) {
	c.warnAbsent(machines)
	told := make(map[Channel]bool) // a channel may have tables in several states
	for i := range c.Tables {
		if own := c.Tables[i].own(); len(own) > 0 && !told[c.Tables[i].Channel] {
			told[c.Tables[i].Channel] = true
			c.Warnings = append(c.Warnings, Warning{What: fmt.Errorf("L(m,1) of %s is not compared, nor is A(τ): in %s, at m = %d, it is of %s itself, not between two processes as on the others",
				abridged(own), c.Tables[i].Channel, c.Tables[i].Bytes, c.Tables[i].Setup)})
		}
	}
}

// warnAbsent names machines that have nothing in common with any other.
func (c *Comparison) warnAbsent(machines []Machine) {
	there := lists.Concat(c.Tables, func(t Table) []string { return lists.Map(t.Rows, func(r Row) string { return r.Machine }) })
	for _, k := range c.Surveys {
		there = append(append(there, k.Machine), lists.Map(k.Rows, func(r SurveyRow) string { return r.Machine })...)
	}
	var published, others []string
	measured, tables := false, false // whether measured machines and published tables are compared
	for _, m := range machines {
		switch {
		case slices.Contains(there, m.Name):
			measured, tables = measured || !m.Published(), tables || m.Published()
		case slices.ContainsFunc(c.States, func(s InState) bool { _, met := s.Of(m.Name); return met }) &&
			!slices.ContainsFunc(c.States, func(s InState) bool { _, met := s.Of(m.Name); return met && common(s) }):
			// Compared names them.
		case m.Published():
			published = append(published, m.Name)
		default:
			others = append(others, m.Name)
		}
	}
	advice := ErrChoice
	if tables && !measured { // tables could be taken for the setup of the others
		advice = ErrPublished
	}
	for _, absent := range []struct {
		names []string
		help  error
	}{{published, ErrPublished}, {others, advice}} {
		if len(absent.names) > 0 {
			c.Warnings = append(c.Warnings, Warning{absent.names, fmt.Errorf("not compared, because no other file has transfers of the same setup, placement, cache and message size, or the same surveys: %w", absent.help)})
		}
	}
}

// mixed are the different known values of the i-th of alike, each with a machine that has it.
func mixed(names []string, of []*doubts, i int) (kinds []string) {
	seen := make(map[string]bool)
	for at, d := range of {
		if v := d.alike[i]; v != "" && !seen[v] {
			seen[v] = true
			kinds = append(kinds, fmt.Sprintf("%s (%s)", v, names[at]))
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

// A property must be equal on all machines; "" is unknown.
type property struct {
	what string
	of   func(*params.File) string
}

var alike = []property{
	{"versions of taulop", func(f *params.File) string { return f.Provenance.Taulop }},
	{"ways to copy", func(f *params.File) string { return f.Plan.Copy }},
	{"states of idle cores", func(f *params.File) string {
		return printable.Either(f.Provenance.IdleCores == "" && len(f.Launches) > 0, "asleep", f.Provenance.IdleCores)
	}},
	{"pages of buffers", func(f *params.File) string { return f.Provenance.BufferPages }},
	{"intermediate buffers", func(f *params.File) string {
		return printable.If(f.Plan.SegmentBytes != 0, fmt.Sprintf("%d segments of %d bytes", f.Plan.Segments, f.Plan.SegmentBytes))
	}},
}
