package params

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// ReadFile reads a native parameter file; see Read.
func ReadFile(path string) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return Read(in, path)
}

// Read reads a native parameter file. An error says in which line of name it
// is, and no input takes more than some hundred MB of memory. Cells keep the
// order that they have there.
func Read(r io.Reader, name string) (*File, error) {
	text, err := readAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	d := &decoder{scanner: scanner{name: name, text: text}, names: make(map[string]string)}
	d.file()
	if d.err != nil {
		return nil, d.err
	}
	d.f.forgetBreaches()
	return &d.f, nil
}

func readAll(r io.Reader) (string, error) {
	var b strings.Builder
	if in, ok := r.(*os.File); ok {
		if info, err := in.Stat(); err == nil && info.Mode().IsRegular() {
			b.Grow(int(min(info.Size(), maxFile)) + bytes.MinRead)
		}
	}
	n, err := io.Copy(&b, io.LimitReader(r, maxFile+1))
	switch text := b.String(); {
	case err != nil:
		return "", err
	case n > maxFile:
		return "", fmt.Errorf("more than %d MiB; this is no parameter file", maxFile>>20)
	case strings.TrimSpace(text) == "":
		return "", errors.New("the file is empty")
	case text[0] == '#':
		return "", errors.New("this is a published text file; turn it into a native one with taulop import")
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"), strings.IndexByte(text[:min(len(text), 4)], 0) >= 0:
		return "", errors.New("the file is UTF-16; save it as UTF-8")
	default:
		return strings.TrimSuffix(strings.TrimPrefix(text, "\xef\xbb\xbf"), "\x1a"), nil
	}
}

// A decoder builds a file.
type decoder struct {
	scanner
	f     File
	names map[string]string // one copy of each, so that the text can go
	begin []int32           // where each cell begins
	block []Sample          // where samples are kept
	count int               // samples of all cells
}

// A field is a value at the top, and where it is.
type field struct {
	text string
	pos  int
}

// file reads all. Cells come last in what we write, so that they are read where
// they are; in other orders they are read once the version is known.
func (d *decoder) file() {
	fields := make(map[string]field)
	known := false
	d.object(func(name string) {
		d.peek()
		if _, twice := fields[name]; twice {
			d.fail(d.pos, "%.40q is there twice", name)
			return
		}
		if len(fields) == maxNames {
			d.fail(d.pos, "more than %d fields; this is no parameter file", maxNames)
			return
		}
		if known && name == "cells" {
			fields[name] = field{pos: -1}
			d.cells()
			return
		}
		pos := d.pos
		fields[name] = field{d.value(0), pos}
		if _, version := fields["version"]; version && !known {
			if _, format := fields["format"]; format {
				d.version(fields)
				known = true
			}
		}
	})
	if d.err == nil && d.peek() != 0 {
		d.unexpected("the end of the file")
	}
	if d.err != nil {
		return
	}
	if !known {
		d.fail(0, "this is no parameter file: it has no \"format\" and \"version\"")
		return
	}
	d.header(fields)
	for i := range d.f.Cells {
		if err := d.f.Cells[i].checkLaunches(len(d.f.Launches)); err != nil {
			d.fail(int(d.begin[i]), "%v: %w", d.f.Cells[i].Key, err)
			return
		}
	}
}

func (d *decoder) version(fields map[string]field) {
	d.decode("format", fields["format"], &d.f.Format)
	d.decode("version", fields["version"], &d.f.Version)
	if err := checkFormat(d.f.Format, d.f.Version); err != nil {
		d.fail(fields["version"].pos, "%w", err)
	}
}

// header reads everything but cells that come after the version.
func (d *decoder) header(fields map[string]field) {
	targets := map[string]any{
		"provenance": &d.f.Provenance, "plan": &d.f.Plan, "placements": &d.f.Placements,
		"complete": &d.f.Complete, "seconds": &d.f.Seconds, "warnings": &d.f.Warnings,
	}
	if d.f.Version > 1 {
		targets["launches"], targets["journal"] = &d.f.Launches, &d.f.Journal
	}
	for name, at := range fields {
		if name == "format" || name == "version" || name == "cells" {
			continue
		}
		target, known := targets[name]
		if !known {
			d.fail(at.pos, "there is no field %.40q", name)
			return
		}
		if name == "provenance" {
			if err := checkLists(at.text); err != nil {
				d.fail(at.pos, "provenance: %w", err)
			}
		}
		d.decode(name, at, target)
	}
	for i, level := range d.f.Provenance.Levels { // of which models speak
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
	if at := fields["cells"]; at.pos >= 0 && d.err == nil {
		d.pos = at.pos
		d.cells()
	}
}

// decode reads a field. What machine and place are like may be said in more
// fields than we know; in a plan all must be known.
func (d *decoder) decode(name string, at field, target any) {
	if d.err != nil {
		return
	}
	if len(at.text) > maxHeader {
		d.fail(at.pos, "%s has more than %d MiB", name, maxHeader>>20)
		return
	}
	in := json.NewDecoder(strings.NewReader(at.text))
	if name == "plan" {
		in.DisallowUnknownFields()
	}
	if err := in.Decode(target); err != nil {
		var mistaken *json.UnmarshalTypeError
		if errors.As(err, &mistaken) {
			d.fail(at.pos+min(int(mistaken.Offset), len(at.text)), "%s: %s where a value like %v belongs", name, printable.Part(mistaken.Value), mistaken.Type)
			return
		}
		d.fail(at.pos, "%s: %.200s", name, strings.TrimPrefix(err.Error(), "json: "))
	}
}

func (d *decoder) cells() {
	d.f.Cells = make([]Cell, 0, min(strings.Count(d.text[d.pos:], `"time_ns"`), maxCells))
	d.list('[', ']', d.cell)
	if d.err != nil {
		return
	}
	if first, second := d.f.twice(); second > 0 {
		d.fail(int(d.begin[second]), "%v is there twice, first in line %d", d.f.Cells[second].Key, d.line(int(d.begin[first])))
	}
}

// Fields of a cell, as bits.
const (
	hasKind = 1 << iota
	hasSetup
	hasPlacement
	hasOffCache
	hasTau
	hasBytes
	hasOperator
	hasVariant
	hasN
	hasDelay
	hasK
	hasTransfers
	hasTime
	hasSamples

	required = hasKind | hasPlacement | hasTau | hasBytes | hasTime
)

func (d *decoder) cell() {
	d.peek()
	begin := d.pos
	var c Cell
	seen := 0
	d.object(func(name string) {
		bit := 0
		switch name {
		case "kind":
			bit, c.Kind = hasKind, Kind(d.shared())
		case "setup":
			bit, c.Setup = hasSetup, d.setup()
		case "placement":
			bit, c.Placement = hasPlacement, numa.Policy(d.shared())
		case "off_cache":
			bit, c.OffCache = hasOffCache, d.bool()
		case "tau":
			bit, c.Tau = hasTau, d.int()
		case "bytes":
			bit, c.Bytes = hasBytes, d.int()
		case "operator":
			bit, c.Operator = hasOperator, d.shared()
		case "variant":
			bit, c.Variant = hasVariant, d.shared()
		case "n":
			bit, c.N = hasN, d.int()
		case "delay_ns":
			bit, c.Delay = hasDelay, d.int()
		case "k":
			bit, c.K = hasK, d.int()
		case "transfers":
			bit, c.Transfers = hasTransfers, d.int()
		case "time_ns":
			bit, c.Time = hasTime, d.estimate()
		case "samples_ns":
			bit, c.Samples = hasSamples, d.samples(d.unlaunched)
		case "samples":
			bit, c.Samples = hasSamples, d.samples(d.sample)
		default:
			d.fail(d.pos, "there is no field %.40q in a cell", name)
		}
		if seen&bit != 0 {
			d.fail(d.pos, "%q is there twice in a cell", name)
		}
		seen |= bit
	})
	if d.err != nil {
		return
	}
	if seen&required != required {
		d.fail(begin, "a cell lacks one of kind, placement, tau, bytes and time_ns")
		return
	}
	if err := c.check(); err != nil {
		d.fail(begin, "%s: %w", printable.Part(c.Key.String()), err)
		return
	}
	if len(d.f.Cells) == maxCells {
		d.fail(begin, "more than %d cells", maxCells)
		return
	}
	d.begin = append(d.begin, int32(begin))
	d.f.Cells = append(d.f.Cells, c)
}

// setup reads a setup by the name that version 2 has for it.
func (d *decoder) setup() string {
	name := d.shared()
	if d.f.Version == 1 && name == "lone" {
		return Isolated
	}
	return name
}

// shared reads a string that many cells have.
func (d *decoder) shared() string {
	text := d.string()
	name, known := d.names[text]
	if !known && d.err == nil {
		name = strings.Clone(text)
		d.names[name] = name
	}
	return name
}

// estimate reads [center, lo, hi, n], bounds null where they are unknown.
func (d *decoder) estimate() fit.Estimate {
	e := fit.Estimate{Lo: math.Inf(-1), Hi: math.Inf(1)}
	d.expect('[')
	e.Center = d.float()
	d.expect(',')
	if !d.null() {
		e.Lo = d.float()
	}
	d.expect(',')
	if !d.null() {
		e.Hi = d.float()
	}
	d.expect(',')
	e.N = d.int()
	if d.accept(',') {
		e.Sessions = d.int()
	}
	d.expect(']')
	return e
}

// unlaunched reads a sample of version 1, ns.
func (d *decoder) unlaunched() Sample { return Sample{NS: d.float(), Launch: Unlaunched} }

// sample reads [launch, ns, at, spread].
func (d *decoder) sample() (s Sample) {
	d.expect('[')
	launch := d.int()
	if launch > maxLaunches {
		d.fail(d.pos, "launch %d; the most is %d", launch, maxLaunches)
	}
	s.Launch = int32(launch)
	d.expect(',')
	s.NS = d.float()
	d.expect(',')
	s.At = float32(d.float())
	d.expect(',')
	s.Spread = float32(d.float())
	d.expect(']')
	return s
}

// samples keeps those of many cells in one piece of memory.
func (d *decoder) samples(one func() Sample) []Sample {
	begin := len(d.block)
	d.list('[', ']', func() {
		if d.count++; d.count > maxSamples {
			d.fail(d.pos, "more than %d samples in all", maxSamples)
			return
		}
		if len(d.block) == cap(d.block) {
			own := d.block[begin:]
			d.block = append(make([]Sample, 0, max(1<<12, 2*len(own))), own...)
			begin = 0
		}
		d.block = append(d.block, one())
	})
	if len(d.block) == begin {
		return nil
	}
	return d.block[begin:len(d.block):len(d.block)]
}
