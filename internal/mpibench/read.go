package mpibench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/decimal"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/printable"
)

// Limits of an output, which may come from anywhere.
const (
	maxLine      = 1 << 16 // bytes
	maxTimes     = 1 << 16 // rows
	maxOmissions = 1 << 8
	maxBytes     = 1 << 50 // of a message
	maxRanks     = 1 << 30
	maxTime      = 1e15 // µs, thirty years
)

// newest is the version of a suite that does not say it.
const newest = math.MaxInt

// ReadFile reads the output that path holds.
func ReadFile(path string) (*Results, error) {
	f, err := infile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads the output of IMB-MPI1 or of OSU micro-benchmarks, or several one
// after the other. Errors say in which line of name they are. It fails where it
// finds no table of either, and where a row of a table is not what the heading
// says.
func Read(r io.Reader, name string) (*Results, error) {
	p := parser{name: name, imb: newest, seen: make(map[Omission]bool)}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		p.cut = atEOF && bytes.IndexByte(data, '\n') < 0
		return bufio.ScanLines(data, atEOF)
	})
	for lines.Scan() {
		p.line++
		text := lines.Text()
		if p.line == 1 {
			if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
				return nil, p.errorf("the file is UTF-16: save it as plain text, UTF-8 or ASCII")
			}
			text = strings.TrimPrefix(text, "\xef\xbb\xbf")
		}
		if err := p.read(bare(text)); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		p.line++
		return nil, p.errorf("the line is longer than %d bytes: give a file as IMB-MPI1 or an OSU benchmark prints it", maxLine)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if !p.tables {
		return nil, fmt.Errorf("%s holds no table of IMB-MPI1 (\"# Benchmarking …\") or of OSU micro-benchmarks (\"# OSU MPI … Latency Test\"): give a file with what one of them printed", name)
	}
	return &p.results, nil
}

// A parser knows the table that it is in.
type parser struct {
	name    string
	line    int
	cut     bool // the line has no end
	tables  bool // there was one
	results Results
	seen    map[Omission]bool

	imb              int // version, a year; unknown: the newest
	suite, benchmark string
	kind             Kind
	of               *collective.Benchmark
	ranks            int
	why              string // the table is left out
	columns          columns
	headed           bool        // there was a heading
	title, rows      int         // of the table: its first line, and how many rows it has
	last             string      // time of the row before
	sizes            map[int]int // of its rows, their lines
}

// columns are places in a row, -1 where there is none.
type columns struct {
	count, bytes, time, bad int
	good                    string // in column bad, of a row whose data were right
}

var (
	imbBanner = regexp.MustCompile(`^#\s+Intel ?\(R\) MPI Benchmark(?:s| Suite) V?(\d{1,4})\b`)
	imbTitle  = regexp.MustCompile(`^# Benchmarking\s+(\S+)$`)
	imbRanks  = regexp.MustCompile(`^# #processes\s*=\s*(\d+)`)
	imbGroups = regexp.MustCompile(`^# \(\s*\d+ groups of \d+ processes`)
	osuTitle  = regexp.MustCompile(`^# (OSU .*?)(?:\s+v[0-9][^\s]*)?$`)
	osuTest   = regexp.MustCompile(`^OSU MPI(-\S+)?\s*(.*?)\s*Latency Test$`)
	gaps      = regexp.MustCompile(`\t+| {2,}`)
)

func (p *parser) read(text string) error {
	if m := imbBanner.FindStringSubmatch(text); m != nil {
		p.imb, _ = strconv.Atoi(m[1]) // four digits at most
		return nil
	}
	if m := imbTitle.FindStringSubmatch(text); m != nil {
		kind, of := called("IMB", m[1], p.imb)
		err := p.begin("IMB", m[1], kind, of)
		if p.kind == "" {
			p.why = "taulop predicts nothing like it"
		}
		return err
	}
	if m := osuTitle.FindStringSubmatch(text); m != nil {
		return p.beginOSU(m[1])
	}
	if p.cut && isPartOfTitle(text) {
		return p.begin("", text, "", nil)
	}
	switch {
	case p.suite == "" || text == "":
		return nil
	case p.suite == "IMB" && imbGroups.MatchString(text):
		p.why = "several groups of ranks run at once"
		return nil
	}
	if m := imbRanks.FindStringSubmatch(text); m != nil && p.suite == "IMB" {
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 || n > maxRanks {
			return p.errorf("%.40q is no number of processes", m[1])
		}
		p.ranks = n
		return nil
	}
	if heading, err := p.heading(text); heading || err != nil {
		return err
	}
	if text[0] == '#' {
		return nil
	}
	return p.row(text)
}

// isPartOfTitle tells the last line of an output that was cut in a title.
func isPartOfTitle(text string) bool {
	for _, title := range []string{"# Benchmarking", "# OSU MPI"} {
		if len(text) > len("# ") && strings.HasPrefix(title, text) {
			return true
		}
	}
	return false
}

func (p *parser) begin(suite, benchmark string, kind Kind, of *collective.Benchmark) error {
	err := p.end()
	p.tables = true
	p.suite, p.benchmark, p.kind, p.of, p.ranks, p.why, p.columns = suite, printable.Name(benchmark), kind, of, 0, "", columns{}
	p.title, p.rows, p.headed, p.last, p.sizes = p.line, 0, false, "", make(map[int]int)
	return err
}

// end is where a table ends, with the next or with the file: one without rows is
// what an interrupted benchmark leaves.
func (p *parser) end() error {
	switch {
	case p.title == 0 || p.rows > 0:
		return nil
	case !p.headed:
		return p.omitAt(p.title, "its table has no heading: the benchmark was stopped, or its output cut")
	case p.kind == "" || p.why != "":
		return nil
	}
	return p.omitAt(p.title, "its table has no row: the benchmark was stopped, or its output cut")
}

// beginOSU takes a title such as "OSU MPI-CUDA Broadcast Latency Test".
func (p *parser) beginOSU(title string) error {
	if err := p.begin("OSU", title, "", nil); err != nil {
		return err
	}
	m := osuTest.FindStringSubmatch(title)
	if m == nil {
		p.why = "it measures no latency of an MPI operation"
		return nil
	}
	kind, of := called("OSU", m[2], newest)
	switch {
	case of == nil:
		p.why = "taulop predicts nothing like it"
	case m[1] != "":
		p.why = "its data is in the memory of an accelerator"
	default:
		p.kind, p.of, p.benchmark = kind, of, of.Name
		if kind == Message {
			p.ranks = 2
		}
	}
	return nil
}

// heading takes a line with the names of columns, if this is one.
func (p *parser) heading(text string) (bool, error) {
	var names []string
	switch {
	case p.suite == "IMB":
		if names = strings.Fields(text); names[0] == "Group" && len(names) > 1 {
			p.why = "several groups of ranks run at once"
			names = names[1:]
		}
		if names[0] != "#bytes" && names[0] != "#repetitions" {
			return false, nil
		}
	case strings.HasPrefix(text, "# "):
		names = gaps.Split(strings.TrimSpace(text[2:]), -1)
		if !strings.HasPrefix(names[0], "Size") && !strings.Contains(names[0], "(us)") {
			return false, nil
		}
	default:
		return false, nil
	}
	c := columns{count: len(names), bytes: -1, time: -1, bad: -1}
	rank := 0
	for i, name := range names {
		switch name {
		case "#bytes", "Size":
			c.bytes = i
		case "defects":
			c.bad, c.good = i, "0.00"
		case "Validation":
			c.bad, c.good = i, "Pass"
		}
		if r := times[name]; r > rank {
			c.time, rank = i, r
		}
	}
	p.columns, p.headed = c, true
	if p.why != "" {
		return true, p.omit(p.why)
	}
	if c.time < 0 {
		p.why = "it has no column with a time"
		return true, p.omit(p.why)
	}
	if c.bytes < 0 && !p.kind.Empty() {
		return true, p.errorf("the heading of %s has no column of sizes: give the output as the benchmark prints it", p.benchmark)
	}
	if p.suite == "IMB" && p.ranks == 0 {
		return true, p.errorf("%s does not say among how many ranks it ran: the line \"# #processes = …\" is missing above", p.benchmark)
	}
	return true, nil
}

// times are the columns with a time, the one to take with the highest number.
var times = map[string]int{
	"t[usec]": 1, "t_avg[usec]": 1, "t_max[usec]": 2,
	"Latency (us)": 1, "Latency(us)": 1, "Avg Latency(us)": 1, "Max Latency(us)": 2,
}

// row takes a line below a heading. One that does not begin with a number is
// what some other program printed in between.
func (p *parser) row(text string) error {
	fields := strings.Fields(text)
	if p.columns.count == 0 || p.why != "" {
		return nil
	}
	if !isNumber(fields[0]) {
		return nil
	}
	p.rows++
	for _, refusal := range []string{"out-of-mem.", "time-out."} {
		if len(fields) > 1 && strings.HasPrefix(fields[1], refusal) {
			return p.omit(fmt.Sprintf("IMB did not measure %.40s bytes: %s", fields[0], strings.TrimSuffix(refusal, ".")))
		}
	}
	c := p.columns
	if p.cut && len(fields) < c.count {
		return p.errorf("%s: the file ends in the middle of this line: leave the line out, or take the whole output", p.benchmark)
	}
	if len(fields) != c.count {
		return p.errorf("%s: %d values, and the heading has %d columns", p.benchmark, len(fields), c.count)
	}
	t := Time{Suite: p.suite, Benchmark: p.benchmark, Kind: p.kind, P: p.ranks, Line: p.line, of: p.of}
	if c.bytes >= 0 {
		m, err := strconv.Atoi(fields[c.bytes])
		if err != nil || m < 0 || m > maxBytes {
			return p.errorf("%s: %.40q is no size of a message in bytes", p.benchmark, fields[c.bytes])
		}
		if first, twice := p.sizes[m]; twice {
			return p.errorf("%s: %d bytes are there twice in a table, first in line %d: was the benchmark started several times at once?", p.benchmark, m, first)
		}
		p.sizes[m] = p.line
		t.Printed, t.Bytes = m, m
	}
	last := p.last
	p.last = fields[c.time]
	if p.cut && c.time == c.count-1 && decimal.Cut(p.last, last) {
		return p.errorf("%s: the file ends in the middle of this line, after %.40q; if that is whole nevertheless, add a line end", p.benchmark, p.last)
	}
	us, err := decimal.Parse(fields[c.time])
	if err != nil || math.IsNaN(us) || us < 0 || us > maxTime {
		return p.errorf("%s: %.40q is no time in µs", p.benchmark, fields[c.time])
	}
	t.Microseconds = us
	switch {
	case c.bad >= 0 && fields[c.bad] != c.good:
		return p.omit(fmt.Sprintf("with %d bytes wrong data arrived", t.Printed))
	case us == 0:
		return p.omit("a time of 0 was too short for the suite")
	case p.ranks == 1:
		return p.omit("one rank alone moves nothing")
	case t.Printed == 0 && p.suite == "IMB" && !p.kind.Empty() && neighbours[p.kind] == nil:
		return p.omit("a collective of 0 bytes moves nothing")
	case len(p.results.Times) == maxTimes:
		return p.errorf("more than %d rows: give fewer runs at once", maxTimes)
	}
	if p.ranks > 0 {
		t = t.Among(p.ranks)
	}
	p.results.Times = append(p.results.Times, t)
	return nil
}

// isNumber tells what begins a row, also where a row cannot begin so: 1_000 and 0x10
// are refused, and not taken for what some other program printed.
func isNumber(text string) bool {
	text = strings.ReplaceAll(text, "_", "")
	_, float := strconv.ParseFloat(text, 64)
	_, whole := strconv.ParseInt(text, 0, 64)
	return float == nil || whole == nil
}

// omit notes that something is left out, once for each reason.
func (p *parser) omit(why string) error { return p.omitAt(p.line, why) }

func (p *parser) omitAt(line int, why string) error {
	o := Omission{Benchmark: p.benchmark, Why: why}
	if p.seen[o] {
		return nil
	}
	if len(p.seen) == maxOmissions {
		return p.errorf("more than %d tables and rows that cannot be compared: is this what IMB-MPI1 or an OSU benchmark printed?", maxOmissions)
	}
	p.seen[o] = true
	o.Line = line
	p.results.LeftOut = append(p.results.LeftOut, o)
	return nil
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.name, p.line, fmt.Sprintf(format, args...))
}
