package params

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/printable"
)

// ReadFile reads a native parameter file; see Read.
func ReadFile(path string) (*File, error) { return infile.Read(path, Read) }

// Read reads a native parameter file. Errors begin with name and the line. No input takes more than a few
// hundred MB of memory. Cells keep the file's order.
func Read(r io.Reader, name string) (*File, error) {
	text, err := readAll(r)
	if err == nil && len(text) == 0 {
		return nil, fmt.Errorf("%s is empty: measure again with taulop sweep, or name another", name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	return decode(text, name)
}

func decode(text []byte, name string) (*File, error) {
	d := &decoder{document: newDocument(text, name), known: make(map[Key]Variant)}
	d.readers = d.readsOf()
	if d.file(); d.err != nil {
		return nil, d.err
	}
	return &d.f, nil
}

// readAll reads text that may be a parameter file; nil if it is blank.
func readAll(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	begin := bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxFile:
		return nil, limitf("more than %d MiB", maxFile>>20)
	case len(begin) == 0:
		return nil, nil
	case text[0] == '#':
		return nil, errors.New("this is no parameter file; if it is a published text file, taulop import makes one of it")
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")), bytes.IndexByte(text[:min(len(text), 4)], 0) >= 0:
		return nil, errors.New("the file is UTF-16; save it as UTF-8")
	case begin[0] != '{':
		return nil, errors.New("this is no parameter file: name one that taulop sweep or import wrote")
	default:
		return text, nil
	}
}

// A decoder builds a file.
type decoder struct {
	document
	f       File
	readers *json.Unmarshalers
	known   map[Key]Variant // one copy of each variant, by kind and name
	begin   []int32         // position of each cell
	block   []Sample        // buffer for the samples of a cell
	count   int             // samples of all cells
}

// A field is a value of the top-level object, and its position.
type field struct {
	text []byte
	pos  int
}

// file reads the whole file. Write puts cells last, so that they are decoded in place; in other orders
// they are decoded once the version is known.
func (d *decoder) file() {
	fields := make(map[string]field)
	known := false
	d.each('{', '}', func() {
		t, _ := d.token('"', "a string")
		name := t.String()
		switch {
		case d.err != nil:
		case len(fields) == maxNames:
			d.fail(d.next(), "more than %d fields; this is no parameter file", maxNames)
		case known && name == "cells":
			fields[name] = field{pos: -1}
			d.cells()
		default:
			most := maxHeader
			if slices.Contains([]string{"cells", "launches", "warnings", "watches"}, name) { // decoded item by item
				most = maxFile
			}
			text, pos := d.value(most)
			fields[name] = field{text, pos}
			switch {
			case name == "provenance" && d.listed > mostListed:
				d.fail(pos, "provenance: %w", errListed)
			case most == maxHeader && d.objects > maxObjects:
				d.fail(pos, "%w", limitf("more than %d objects in one field", maxObjects))
			}
			if !known && fields["version"].text != nil && fields["format"].text != nil {
				d.decode("format", fields["format"], &d.f.Format)
				d.decode("version", fields["version"], &d.f.Version)
				if err := checkFormat(d.f.Format, d.f.Version); err != nil {
					d.fail(fields["version"].pos, "%w", err)
				}
				known = true
			}
		}
	})
	d.end()
	if d.err != nil {
		return
	}
	if _, rows := fields["rows"]; !known && rows {
		d.fail(0, "this is no parameter file but what taulop verify wrote, or another result: parameters are what taulop sweep writes")
		return
	}
	if !known {
		d.fail(0, "this is no parameter file: it has no \"format\" and \"version\": name one that taulop sweep or import wrote")
		return
	}
	d.header(fields)
	for i := range d.f.Cells {
		c := &d.f.Cells[i]
		if err := d.f.checkCell(c); err != nil {
			d.fail(int(d.begin[i]), "%v: %w", c.Key, err)
			return
		}
	}
}

// header decodes all fields except cells that file has decoded already.
func (d *decoder) header(fields map[string]field) {
	targets := map[string]any{
		"provenance": &d.f.Provenance, "plan": &d.f.Plan, "placements": &d.f.Placements, "networks": &d.f.Networks,
		"complete": &d.f.Complete, "seconds": &d.f.Seconds, "persistence": &d.f.Persistence, "journal": &d.f.Journal,
	}
	lists := map[string]func(){
		"warnings": d.warnings,
		"watches":  func() { listOf(d, "watches", "watch", maxWatches, 1, &d.f.Watches, (*Watch).check) },
		"launches": func() { listOf(d, "launches", "launch", maxLaunches, 0, &d.f.Launches, (*Launch).Check) },
	}
	for name, at := range fields {
		switch {
		case name == "format" || name == "version" || name == "cells":
		case lists[name] != nil:
			if d.again(at); d.err == nil && !d.null() {
				lists[name]()
			}
		case targets[name] != nil:
			d.decode(name, at, targets[name])
		default:
			d.fail(at.pos, "there is no field %.40q", name)
			return
		}
	}
	for i, level := range d.f.Provenance.Levels { // models print the names
		d.f.Provenance.Levels[i].Name = printable.Name(level.Name)
	}
	for _, name := range []string{"provenance", "plan", "cells"} {
		if _, there := fields[name]; !there {
			d.fail(len(d.text), "there is no %q; the file is incomplete", name)
		}
	}
	if err := d.f.Plan.check(); err != nil {
		d.fail(fields["plan"].pos, "plan: %w", err)
	}
	if err := d.f.checkState(); err != nil {
		d.fail(fields["placements"].pos, "%w", err)
	}
	if err := d.f.checkNetworks(); err != nil {
		d.fail(fields["networks"].pos, "%w", err)
	}
	if at := fields["cells"]; at.pos >= 0 && d.err == nil {
		d.again(at)
		d.cells()
	}
}

// again rewinds to a field, to decode it item by item.
func (d *decoder) again(at field) {
	d.Reset(bytes.NewBuffer(at.text), tolerant)
	d.base = at.pos
}

// decode decodes a field. Unknown members are an error in the plan alone: a newer version may describe
// machines and placements in more detail.
func (d *decoder) decode(name string, at field, target any) {
	if d.err == nil {
		d.refuse(at.pos, name+": ", json.Unmarshal(at.text, target, tolerant, json.RejectUnknownMembers(name == "plan")))
	}
}

func (d *decoder) warnings() {
	d.each('[', ']', func() {
		if len(d.f.Warnings) == maxWarnings {
			d.fail(d.next(), "%w", limitf("more than %d warnings", maxWarnings))
		}
		if t, ok := d.token('"', "a string"); ok {
			d.f.Warnings = append(d.f.Warnings, t.String())
		}
	})
}

// listOf decodes a list item by item, and numbers the items from first in errors.
func listOf[T any](d *decoder, list, one string, most, first int, into *[]T, check func(*T) error) {
	d.each('[', ']', func() {
		if len(*into) == most {
			d.fail(d.next(), "%w", limitf("more than %d %s", most, list))
		}
		var v T
		text, pos := d.value(maxLaunch)
		d.decode(list, field{text, pos}, &v)
		if err := check(&v); err != nil {
			d.fail(pos, "%s %d: %w", one, len(*into)+first, err)
		}
		*into = append(*into, v)
	})
}

func (d *decoder) cells() {
	d.f.Cells = make([]Cell, 0, min(bytes.Count(d.text[d.next():], []byte(`"time_ns"`)), maxCells))
	d.each('[', ']', d.cell)
	if d.err != nil {
		return
	}
	order := d.f.sorted()
	for i := range len(order) - 1 {
		if first, second := order[i], order[i+1]; d.f.Cells[first].Key == d.f.Cells[second].Key {
			d.fail(int(d.begin[second]), "%v is there twice, first in line %d", d.f.Cells[second].Key, d.line(int(d.begin[first])))
			return
		}
	}
}

func (d *decoder) cell() {
	const missing = math.MinInt
	begin := d.next()
	var text cellText
	text.Tau, text.Bytes, text.Time.N = missing, missing, missing
	d.refuse(d.base, "", json.UnmarshalDecode(d.Decoder, &text, tolerant, json.RejectUnknownMembers(true), json.WithUnmarshalers(d.readers)))
	c := Cell{Key(text.keyText), text.K, text.Transfers, text.Time.Estimate, text.Samples}
	switch {
	case d.err != nil:
		return
	case c.Kind == "" || c.Placement == "" || c.Tau == missing || c.Bytes == missing || c.Time.N == missing:
		d.fail(begin, "a cell lacks one of kind, placement, tau, bytes and time_ns")
		return
	case len(d.f.Cells) == maxCells:
		d.fail(begin, "%w", limitf("more than %d cells", maxCells))
		return
	}
	if c.Variant != nil {
		c.Variant = d.variant(c.Kind, c.Variant)
	}
	if err := c.check(); err != nil {
		d.fail(begin, "%s: %w", printable.Part(c.Key.String()), err)
		return
	}
	d.begin = append(d.begin, int32(begin))
	d.f.Cells = append(d.f.Cells, c)
}

// readsOf has the functions that decode parts of cells.
func (d *decoder) readsOf() *json.Unmarshalers {
	return json.JoinUnmarshalers(
		json.UnmarshalFromFunc(func(_ *jsontext.Decoder, e *estimateText) error {
			e.Estimate = d.estimate()
			return d.err
		}),
		json.UnmarshalFromFunc(func(_ *jsontext.Decoder, s *samplesText) error {
			*s = d.samples()
			return d.err
		}),
		json.UnmarshalFromFunc(func(_ *jsontext.Decoder, v *Variant) error {
			if t, ok := d.token('"', "a string"); ok && t.String() != "" {
				*v = Name(t.String())
			}
			return d.err
		}))
}

// variant parses a variant, once for all cells that have it.
func (d *decoder) variant(kind Kind, name Variant) Variant {
	at := Key{Kind: kind, Variant: name}
	v, known := d.known[at]
	if !known {
		v = at.Named(name.String()).Variant
		d.known[at] = v
	}
	return v
}

// estimate reads [center, lo, hi, n] or [center, lo, hi, n, sessions]; unknown bounds are null.
func (d *decoder) estimate() fit.Estimate {
	d.bracket('[')
	e := fit.Unbounded(d.float())
	if !d.null() {
		e.Lo = d.float()
	}
	if !d.null() {
		e.Hi = d.float()
	}
	e.N = d.int()
	if d.is('0') {
		e.Sessions = d.int()
	}
	d.bracket(']')
	return e
}

// sample reads [launch, ns, at, spread], which may go on with fastest, typical, last for several workers;
// then with watch, before, after for looks; then with computed.
func (d *decoder) sample() (s Sample) {
	d.bracket('[')
	s = Sample{Launch: d.int32(), NS: d.float(), At: float32(d.float()), Spread: float32(d.float())}
	if d.is('0') {
		s.Workers = Workers{float32(d.float()), float32(d.float()), d.int32()}
		switch watched := d.is('0'); {
		case watched:
			s.Watch, s.Before, s.After = d.int32(), float32(d.float()), float32(d.float())
			if s.Watch < 1 {
				d.fail(d.pos(), "watch %d; want 1 or more", s.Watch)
			}
			if d.is('0') {
				s.Computed = float32(d.float())
			}
		case s.Fastest == 0:
			d.fail(d.pos(), "of several workers the fastest took 0 of the last one's time; want a share above 0")
		}
	}
	d.bracket(']')
	return s
}

// samples reads a cell's samples.
func (d *decoder) samples() []Sample {
	d.block = d.block[:0]
	d.each('[', ']', func() {
		if d.count++; d.count > maxSamples {
			d.fail(d.next(), "%w", limitf("more than %d samples in all", maxSamples))
			return
		}
		d.block = append(d.block, d.sample())
	})
	return append([]Sample(nil), d.block...)
}
