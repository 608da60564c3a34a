package params

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"github.com/taulop/taulop/internal/printable"
)

// WriteBenchmarks writes the cells as results of Go benchmarks, for benchstat: a line in ns/op for each
// sample, or for the cell's time if there are none. Transfers are L(m,τ) of whole messages, corrected by
// Alone.
//
// Configuration lines hold what must be equal to compare, since benchstat separates results with
// different ones. Facts about the machine are comments above them.
func (f *File) WriteBenchmarks(w io.Writer) error {
	for _, line := range f.facts() {
		if _, err := fmt.Fprintf(w, "# %s: %s\n", line[0], line[1]); err != nil {
			return err
		}
	}
	out := benchfmt.NewWriter(w)
	var config []benchfmt.Config
	for _, number := range []struct {
		key   string
		value int
	}{{"segment-bytes", f.Plan.SegmentBytes}, {"segments", f.Plan.Segments}} {
		if number.value > 0 {
			config = append(config, benchfmt.Config{Key: number.key, Value: []byte(strconv.Itoa(number.value)), File: true})
		}
	}
	for _, c := range f.byState() {
		name := c.benchmark()
		if c.State != nil && f.state == nil {
			name += "/state=" + c.State.label()
		}
		result := benchfmt.Result{Config: config, Name: benchfmt.Name(name), Iters: 1}
		samples := c.alone.Values()
		if len(samples) == 0 {
			samples = []float64{c.alone.Time.Center}
		}
		for _, ns := range samples {
			ns /= float64(max(1, c.Transfers))
			result.Values = []benchfmt.Value{{Value: round(ns, c.digits()), Unit: "ns/op"}}
			if err := out.Write(&result); err != nil {
				return err
			}
		}
	}
	return nil
}

// facts are facts about the machine, as names and values.
func (f *File) facts() (all [][2]string) {
	p, done := f.Provenance, printable.Either(f.Imported(), "imported", "measured")
	for _, fact := range [][2]string{
		{"host", p.Hostname}, {"cpu", p.CPUModel}, {"os", p.OS}, {"arch", p.Arch}, {"kernel", p.Kernel}, {"microcode", p.Microcode},
		{"hypervisor", p.Hypervisor}, {"governor", strings.Join(p.Governors, ", ")}, {"turbo", p.Turbo}, {"smt", p.SMT},
		{"cpus", p.Allowed.String()}, {"copy", f.Plan.Copy}, {"reduction", p.Reduction}, {"pages", p.BufferPages}, {"idle_cores", p.IdleCores}, {"taulop", p.Taulop}, {"go", p.Go}, {done, p.Time},
	} {
		odd := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
		if value := strings.Join(strings.FieldsFunc(fact[1], odd), " "); value != "" {
			all = append(all, [2]string{fact[0], printable.Part(value)})
		}
	}
	return all
}

// benchmark is the cell's name without "Benchmark". benchstat can filter and group by its parts, name=value.
func (c *Cell) benchmark() string {
	name := strings.ToUpper(string(c.Kind[:1])) + string(c.Kind[1:])
	for _, part := range []struct {
		name    string
		value   any
		present bool
	}{
		{"setup", c.Setup, c.Setup != ""},
		{"operator", c.Operator, c.Operator != ""},
		{"variant", c.VariantName(), c.Variant != nil},
		{"placement", c.Placement, true},
		{"cache", map[bool]string{false: "in", true: "off"}[c.OffCache], true},
		{"tau", c.Tau, c.Tau > 0},
		{"bytes", c.Bytes, c.Kind != NullCell},
		{"segments", c.Segments, c.Segments > 0},
		{"segment-bytes", c.SegmentBytes, c.SegmentBytes > 0},
		{"transport", c.Transport, c.Transport != InSegments},
		{"buffers", c.Buffers, c.Buffers != Rewritten},
		{"n", c.N, c.Kind == PRTTCell},
		{"delay", c.Delay, c.Kind == PRTTCell},
	} {
		if part.present {
			name += "/" + part.name + "=" + strings.Map(func(r rune) rune {
				if r == '/' || unicode.IsSpace(r) {
					return '_'
				}
				return r
			}, fmt.Sprint(part.value))
		}
	}
	return name
}
