package mpibench

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/decimal"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
)

// Limits of an output, which is not trusted.
const (
	maxLine      = 1 << 16 // bytes
	maxTimes     = 1 << 16 // rows
	maxOmissions = 1 << 8
	maxBytes     = 1 << 50 // of a message
	maxRanks     = 1 << 30
	maxTime      = 1e15 // µs, thirty years
)

// newest is the version of a suite whose output has none.
const newest = math.MaxInt

// ReadFile reads an output.
func ReadFile(path string) (*Results, error) { return infile.Read(path, Read) }

// Printed reports whether the beginning of a file is a suite's output.
func Printed(path string) bool {
	f, err := infile.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var tags hostTags
	for lines := infile.NewLines(io.LimitReader(f, 1<<20), path, maxLine); lines.Scan(); {
		if text, err := tags.bare(lines.Text()); err == nil && isTitle(text) {
			return true
		}
	}
	return false
}

// Read reads one or several outputs of IMB-MPI1 or OSU micro-benchmarks. It fails without a table of
// either, and if a row does not match its heading; errors begin with name and line.
func Read(r io.Reader, name string) (*Results, error) {
	p := parser{lines: infile.NewLines(r, name, maxLine), imb: newest}
	for p.lines.Scan() {
		text := p.lines.Text()
		if p.lines.Number == 1 && (strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff")) {
			return nil, p.lines.Errorf("the file is UTF-16: save it as plain text, UTF-8 or ASCII")
		}
		text, err := p.tags.bare(text)
		if err != nil {
			return nil, p.lines.Errorf("%w", err)
		}
		if text != "" {
			p.last.text, p.last.line = text, p.lines.Number
		}
		if err := p.read(text); err != nil {
			return nil, err
		}
	}
	if err := p.lines.Failed("give a file as IMB-MPI1 or an OSU benchmark prints it"); err != nil {
		return nil, err
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	if !p.tables {
		return nil, fmt.Errorf("%s holds no table of IMB-MPI1 (\"# Benchmarking …\") or of OSU micro-benchmarks (\"# OSU MPI … Latency Test\"): give a file with what one of them printed", name)
	}
	return &p.results, nil
}

// A parser has the state of reading, with the current table.
type parser struct {
	lines   *infile.Lines
	tags    hostTags
	tables  bool // there was one
	results Results

	imb     int      // version, a year; newest if unknown
	banner  int      // line of IMB's banner; 0 after its last line
	reduced string   // type of the elements of its reductions
	last    struct { // line that is not empty
		text string
		line int
	}
	table
}

type table struct {
	suite, benchmark string
	kind             Kind
	of               *collective.Benchmark
	title            int // its first line
	ranks            int
	why              string // reason for leaving it out; "": none
	headed           bool   // there was a heading
	columns          columns
	rows             int
	before           string         // time in the row before
	sizes            map[[2]int]int // line by group and size
}

// columns are indexes of columns; −1: missing.
type columns struct {
	count, group, bytes, time, bad int
	good                           string // value of column bad for valid data
	commas                         bool   // between columns
}

var (
	imbBanner = regexp.MustCompile(`^#\s+Intel ?\(R\) MPI Benchmark(?:s| Suite) V?(\d{1,4})\b`)
	imbTitle  = regexp.MustCompile(`^# Benchmarking\s+(\S+)$`)
	imbRanks  = regexp.MustCompile(`^# #processes\s*=\s*(\d+)`)
	imbGroups = regexp.MustCompile(`^# \(\s*(\d+) groups of (\d+) processes`)
	imbCall   = regexp.MustCompile(`^# \S*IMB-MPI1\s.*\boff_cache\b`)
	imbTypes  = regexp.MustCompile(`^# MPI_Datatype for reductions\s*:\s*(\S+)$`)
	imbEnd    = regexp.MustCompile(`^# All processes entering MPI_Finalize$`)
	osuTitle  = regexp.MustCompile(`^# (OSU .*?)(?:\s+v[0-9][^\s]*)?$`)
	osuTest   = regexp.MustCompile(`^OSU MPI(-\S+)?\s+(.*?)\s*Test$`)
	osuType   = regexp.MustCompile(`^# Datatype: (\w+)`)
	osuPairs  = regexp.MustCompile(`^# \[ pairs: (\d+) \](?: \[ window size: (\w+) \])?`)
	rule      = regexp.MustCompile(`^#-+$`)
	gaps      = regexp.MustCompile(`\t+| {2,}`)
)

func (p *parser) read(text string) error {
	if m := imbBanner.FindStringSubmatch(text); m != nil {
		err := p.stopped()
		p.imb, _ = strconv.Atoi(m[1]) // at most four digits
		p.banner, p.reduced = p.lines.Number, ""
		return err
	}
	if p.banner > 0 && imbCall.MatchString(text) {
		p.results.OffCache = true
		return nil
	}
	if m := imbTypes.FindStringSubmatch(text); m != nil {
		p.reduced = m[1]
		return nil
	}
	if imbEnd.MatchString(text) {
		p.banner = 0
		return nil
	}
	if m := imbTitle.FindStringSubmatch(text); m != nil {
		kind, of := called("IMB", strings.TrimPrefix(m[1], "Multi-"), p.imb)
		err := p.begin("IMB", m[1], kind, of)
		switch _, known := sums[p.reduced]; {
		case p.kind == "":
			p.why = "taulop predicts nothing like it"
		case p.kind == Reduction && p.reduced == "":
			p.why = `it does not say what it reduced: the line "# MPI_Datatype for reductions : …" is missing above`
		case p.kind == Reduction && !known:
			p.why = fmt.Sprintf("it reduced elements of type %.40s, of which taulop has no operator", printable.Name(p.reduced))
		}
		return err
	}
	if m := osuTitle.FindStringSubmatch(text); m != nil {
		return p.beginOSU(m[1])
	}
	if p.suite == "" || text == "" {
		return nil
	}
	if m := imbGroups.FindStringSubmatch(text); m != nil && p.suite == "IMB" {
		return p.groups(m[1], m[2])
	}
	if m := osuType.FindStringSubmatch(text); m != nil && p.of != nil {
		if p.sizes, p.benchmark = make(map[[2]int]int), p.of.Name; m[1] != "MPI_CHAR" { // the suite's default
			p.benchmark += " " + m[1]
		}
		return nil // the rows of each data type have all sizes (-T)
	}
	if m := osuPairs.FindStringSubmatch(text); m != nil && p.suite == "OSU" {
		return p.pairs(m[1], m[2])
	}
	if m := imbRanks.FindStringSubmatch(text); m != nil && p.suite == "IMB" {
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 || n > maxRanks {
			return p.lines.Errorf("%.40q is no number of processes", m[1])
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

// finish ends the file. Its last line may be the beginning of a table.
func (p *parser) finish() error {
	if text := p.last.text; p.title < p.last.line && (p.tables && rule.MatchString(text) || (p.lines.Cut || p.tables) && isPartOfTitle(text)) {
		p.lines.Number = p.last.line
		if err := p.begin("", text, "", nil); err != nil {
			return err
		}
	}
	if err := p.end(); err != nil {
		return err
	}
	return p.stopped()
}

// stopped ends IMB's output, at the next banner or the end of the file. It reports an output without
// IMB's last line.
func (p *parser) stopped() error {
	line := p.banner
	p.banner = 0
	if line == 0 || !p.tables || slices.ContainsFunc(p.results.LeftOut, func(o Omission) bool { return o.Line > line && strings.HasSuffix(o.Why, orCut) }) {
		return nil
	}
	return p.omission("IMB-MPI1", line, `its output does not go on to "All processes entering MPI_Finalize": the benchmark was stopped, or its output cut`)
}

// orCut ends the reasons for incomplete tables.
const orCut = ": the benchmark was stopped, or its output cut"

// groups reads the number of concurrent groups and of their ranks.
func (p *parser) groups(groups, ranks string) error {
	n, err := strconv.Atoi(groups)
	q, errRanks := strconv.Atoi(ranks)
	if err != nil || errRanks != nil || n < 1 || q < 1 || n > maxRanks/q {
		return p.lines.Errorf("%.20q groups of %.20q processes are none", groups, ranks)
	}
	if p.ranks = n * q; others[p.kind] == nil && p.kind != "" {
		p.why = "several groups of ranks run at once"
	}
	return nil
}

// pairs reads the number of pairs of an OSU benchmark, and its window.
func (p *parser) pairs(pairs, window string) error {
	n, err := strconv.Atoi(pairs)
	if err != nil || n < 1 || n > MostPairs {
		return p.lines.Errorf("%.40q is no number of pairs", pairs)
	}
	if p.ranks = 2 * n; window == "varied" {
		p.why, p.headed = "its window varies: run it without -V", true
		return p.omit(p.why)
	}
	return nil
}

func (p *parser) begin(suite, benchmark string, kind Kind, of *collective.Benchmark) error {
	err := p.end()
	p.tables = true
	p.table = table{suite: suite, benchmark: printable.Name(benchmark), kind: kind, of: of, title: p.lines.Number, sizes: make(map[[2]int]int)}
	return err
}

// end ends a table, at the next title or the end of the file. It reports one without rows.
func (p *parser) end() error {
	switch {
	case p.title == 0 || p.rows > 0:
		return nil
	case !p.headed && (p.why == "" || p.last.line == p.title):
		return p.omission(p.benchmark, p.title, "its table has no heading"+orCut)
	case p.why != "":
		return p.omission(p.benchmark, p.title, p.why) // osu_init has no heading
	}
	return p.omission(p.benchmark, p.title, "its table has no row"+orCut)
}

// beginOSU reads a title such as "OSU MPI-CUDA Broadcast Latency Test".
func (p *parser) beginOSU(title string) error {
	if err := p.begin("OSU", title, "", nil); err != nil {
		return err
	}
	m := osuTest.FindStringSubmatch(title)
	if m == nil {
		p.why = "taulop predicts nothing like it"
		return nil
	}
	kind, of := called("OSU", m[2], newest)
	if operation, timed := strings.CutSuffix(m[2], " Latency"); of == nil && timed {
		kind, of = called("OSU", operation, newest)
	}
	switch {
	case of == nil && !strings.HasSuffix(m[2], "Latency"):
		p.why = "it measures no latency of an MPI operation"
	case of == nil:
		p.why = "taulop predicts nothing like it"
	case m[1] != "":
		p.why = "its data is in the memory of an accelerator"
	default:
		p.kind, p.of, p.benchmark = kind, of, of.Name
		if slices.Contains([]string{"osu_latency", "osu_bw"}, of.Name) {
			p.ranks = 2
		}
	}
	return nil
}

// heading reads a line of column names; it returns false for other lines.
func (p *parser) heading(text string) (bool, error) {
	var names []string
	commas := false
	switch {
	case p.suite == "IMB":
		names = strings.Fields(text)
		first := names[0]
		if first == "Group" && len(names) > 1 {
			first = names[1]
		}
		if first != "#bytes" && first != "#repetitions" {
			return false, nil
		}
	case strings.HasPrefix(text, "# "):
		if names, commas = gaps.Split(strings.TrimSpace(text[2:]), -1), strings.Contains(text, ","); commas {
			names = split(text[2:])
		}
		if !strings.HasPrefix(names[0], "Size") && !strings.Contains(names[0], "(us)") {
			return false, nil
		}
	default:
		return false, nil
	}
	c := columns{count: len(names), group: -1, bytes: -1, time: -1, bad: -1, commas: commas}
	rank := 0
	for i, name := range names {
		switch name {
		case "Group":
			c.group = i
		case "#bytes", "Size":
			c.bytes = i
		case "defects":
			c.bad, c.good = i, "0.00"
		case "Validation":
			c.bad, c.good = i, "Pass"
		}
		if r := times[name]; r > rank && (p.kind == Stream) == (r == rate) {
			c.time, rank = i, r
		}
	}
	p.columns, p.headed = c, true
	if slices.Contains(names, "Transmit Size") {
		p.why = "its messages have derived data types: run it without -D"
	}
	if p.why != "" {
		return true, p.omit(p.why)
	}
	if c.time < 0 {
		if p.why = "it has no column with a time"; p.kind == Stream {
			p.why = "it has no column with a bandwidth"
		}
		return true, p.omit(p.why)
	}
	if c.bytes < 0 && !p.kind.Empty() {
		return true, p.lines.Errorf("the heading of %s has no column of sizes: give the output as the benchmark prints it", p.benchmark)
	}
	if p.suite == "IMB" && p.ranks == 0 {
		return true, p.lines.Errorf("%s does not say among how many ranks it ran: the line \"# #processes = …\" is missing above", p.benchmark)
	}
	return true, nil
}

// times are the columns with a time or a rate. The highest number of a table's columns is used.
var times = map[string]int{
	"t[usec]": 1, "t_avg[usec]": 1, "t_max[usec]": 2,
	"Latency (us)": 1, "Latency(us)": 1, "Avg Latency(us)": 1, "Max Latency(us)": 2,
	"Bandwidth (MB/s)": rate, "MB/s": rate,
}

const rate = 3 // 10⁶ bytes a second, all pairs together

// sums are the operators of IMB, which reduces with MPI_SUM alone, and their elements' bytes, by type.
var sums = map[string]struct {
	operator string
	element  int
}{"MPI_INT": {"SUM_I", 4}, "MPI_FLOAT": {"SUM_F", 4}, "MPI_DOUBLE": {"SUM_R", 8}}

// row reads a line below a heading. A line that does not begin with a number is another program's.
func (p *parser) row(text string) error {
	fields := strings.Fields(text)
	if p.columns.commas {
		fields = split(text)
	}
	first := fields[0]
	if p.columns.count == 1 { // a time, perhaps with a decimal comma, which is refused below
		first = strings.Replace(first, ",", ".", 1)
	}
	if p.columns.count == 0 || p.why != "" || !isNumber(first) {
		return nil
	}
	p.rows++
	for _, refusal := range []string{"out-of-mem.", "time-out."} {
		if len(fields) > 1 && strings.HasPrefix(fields[1], refusal) {
			return p.omit(fmt.Sprintf("IMB did not measure %.40s bytes: %s", fields[0], strings.TrimSuffix(refusal, ".")))
		}
	}
	c := p.columns
	if p.lines.Cut && len(fields) < c.count {
		return p.lines.Errorf("%s: the file ends in the middle of this line: leave the line out, or take the whole output", p.benchmark)
	}
	if len(fields) != c.count {
		return p.lines.Errorf("%s: %d values, and the heading has %d columns", p.benchmark, len(fields), c.count)
	}
	t := Time{Suite: p.suite, Benchmark: p.benchmark, Kind: p.kind, P: p.ranks, Line: p.lines.Number, of: p.of, title: p.title}
	group := 0
	if c.group >= 0 {
		var err error
		if group, err = strconv.Atoi(fields[c.group]); err != nil || group < 0 || group > maxRanks {
			return p.lines.Errorf("%s: %.40q is no number of a group", p.benchmark, fields[c.group])
		}
	}
	if c.bytes >= 0 {
		m, err := strconv.Atoi(fields[c.bytes])
		if err != nil || m < 0 || m > maxBytes {
			return p.lines.Errorf("%s: %.40q is no size of a message in bytes", p.benchmark, fields[c.bytes])
		}
		if first, twice := p.sizes[[2]int{group, m}]; twice {
			return p.lines.Errorf("%s: %d bytes are there twice in a table, first in line %d: was the benchmark started several times at once?", p.benchmark, m, first)
		}
		p.sizes[[2]int{group, m}] = p.lines.Number
		t.Printed, t.Bytes = m, m
	}
	return p.time(t, fields)
}

// time reads a row's time in µs and adds it to the results.
func (p *parser) time(t Time, fields []string) error {
	c, before := p.columns, p.before
	p.before = fields[c.time]
	if p.lines.Cut && c.time == c.count-1 && decimal.Cut(p.before, before) {
		return p.lines.Errorf("%s: the file ends in the middle of this line, after %.40q; if that is whole nevertheless, add a line end", p.benchmark, p.before)
	}
	us, err := decimal.Parse(fields[c.time])
	switch {
	case p.kind == Stream && (err != nil || us < 0):
		return p.lines.Errorf("%s: %.40q is no bandwidth in MB/s", p.benchmark, fields[c.time])
	case p.kind == Stream && (us == 0 || t.Printed == 0):
		return p.omit("a bandwidth of 0 is too small for the suite to print")
	case p.kind == Stream && p.ranks == 0:
		return p.lines.Errorf("%s does not say how many pairs ran: the line \"# [ pairs: … ]\" is missing above", p.benchmark)
	case p.kind == Stream:
		us = float64(t.Printed) * float64(p.ranks/2) / us // 1 MB/s is a byte in 1 µs
	}
	if err != nil || math.IsNaN(us) || us < 0 || us > maxTime {
		return p.lines.Errorf("%s: %.40q is no time in µs", p.benchmark, fields[c.time])
	}
	t.Microseconds = us
	switch {
	case c.bad >= 0 && fields[c.bad] != c.good:
		return p.omit(fmt.Sprintf("with %d bytes wrong data arrived", t.Printed))
	case us == 0:
		return p.omit("a time of 0 was too short for the suite")
	case p.kind == Reduction && t.Printed < sums[p.reduced].element:
		return p.omit("less than one element reduces nothing")
	case p.ranks == 1 && p.kind != Reduction:
		return p.omit("one rank alone moves nothing")
	case t.Printed == 0 && p.suite == "IMB" && !p.kind.Empty() && others[p.kind] == nil:
		return p.omit("a collective of 0 bytes moves nothing")
	case len(p.results.Times) == maxTimes:
		return p.lines.Errorf("more than %d rows: give fewer runs at once", maxTimes)
	}
	if p.kind == Reduction {
		t.Operator = sums[p.reduced].operator
	}
	if p.ranks > 0 {
		t = t.Among(p.ranks)
	}
	p.results.Times = append(p.results.Times, t)
	return nil
}

// omit records an omission in the table, once for each reason.
func (p *parser) omit(why string) error { return p.omission(p.benchmark, p.lines.Number, why) }

func (p *parser) omission(benchmark string, line int, why string) error {
	all := &p.results.LeftOut
	switch {
	case has(*all, benchmark, why):
		return nil
	case len(*all) == maxOmissions:
		return p.lines.Errorf("more than %d tables and rows that cannot be compared: is this what IMB-MPI1 or an OSU benchmark printed?", maxOmissions)
	}
	*all = append(*all, Omission{benchmark, line, why})
	return nil
}

// split reads the columns of a comma-separated line, as in tables of OSU saved as CSV.
func split(text string) []string { return lists.Map(strings.Split(text, ","), strings.TrimSpace) }
