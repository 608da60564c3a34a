// Package tidy reads published measurements of MPI libraries: tables with a row for each measurement, named
// columns, and a head of lines that begin with # and describe the measurement. It makes a parameter file of
// point-to-point times.
package tidy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/decimal"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// A Table has the rows of a file, which are of one kind.
type Table struct {
	Name    string
	Head    []string // lines that begin with #, without it
	Machine string   // from the column machine, or the line "machine:" of the head; "": unknown

	Points      []Point
	Collectives []Collective
}

// A Point is the time of messages between ranks at a level.
type Point struct {
	Line      int
	Level     string
	Parameter string // params.ChannelMessage, ChannelFanout or ChannelGap
	Tau       int    // ranks that are sent to, or pairs
	From, To  int    // of a message: cores, numbered within their nodes; −1: not recorded
	Bytes     int
	Times     // both the same but of a fan-out
}

// A Collective is the time of a collective.
type Collective struct {
	Line       int
	Collective string
	ID         int    // number of the forced algorithm, 0: the library's own choice; −1: not recorded
	Algorithm  string // the table's name for it; "": not recorded
	Mapping    string // of ranks
	P          int
	Nodes      int // 0: not recorded
	Size       int // in the table, bytes
	Bytes      int // m of a call
	Times
	Noise bool // flagged as noise
}

// Times of an operation in ns are the slowest rank's and the mean over ranks; 0: unknown.
type Times struct {
	Slowest float64 `json:"slowest"`
	Mean    float64 `json:"mean"`
}

// Compared is the time of the slowest rank if it is known, else the mean, and whether it is the former.
func (t Times) Compared() (ns float64, slowest bool) {
	if t.Slowest > 0 {
		return t.Slowest, true
	}
	return t.Mean, false
}

// Limits of a file.
const (
	maxFile   = 64 << 20 // bytes
	maxLine   = 1 << 16
	maxHead   = 1 << 8 // lines
	maxRows   = 1 << 20
	maxCores  = 1 << 12
	maxRanks  = 1 << 20
	maxName   = 48
	maxLevels = 64
	maxTime   = 1e15 // µs, thirty years
)

// ReadFile reads the table at path, see Read.
func ReadFile(path, machine string) (*Table, error) {
	return infile.Read(path, func(r io.Reader, name string) (*Table, error) { return Read(r, name, machine) })
}

// ErrMachines is the error for a table of several machines.
var ErrMachines = errors.New("give a table of the rows of one machine")

// ErrAbsent is the error for a table of several machines without the given one.
var ErrAbsent = errors.New("choose one that it has")

// Is reports whether a text begins like a table, with a line of column names after lines that begin with #,
// even if a column is missing, names have capitals, or the separators are not tabs.
func Is(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), "\r\n")
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		has := func(separators string, columns ...string) bool {
			names := strings.FieldsFunc(string(line), func(r rune) bool { return strings.ContainsRune(separators, r) })
			return slices.ContainsFunc(names, func(name string) bool {
				return slices.Contains(columns, strings.ToLower(strings.Trim(name, ` "`)))
			})
		}
		return has("\t,;", "level", "collective", "m_bytes", "latency_us") || has(" ", "m_bytes") // prose has levels, too
	}
	return false
}

// Read reads a table; if it has several machines, only the rows of the given one. The column names determine the
// kind of its rows; their order is free, and there may be other columns. Errors begin with name and the line.
func Read(r io.Reader, name, machine string) (*Table, error) {
	lines := infile.NewLines(io.LimitReader(r, maxFile+1), name, maxLine)
	p := &parser{lines: lines, table: &Table{Name: name}, machine: machine}
	for lines.Scan() {
		if lines.Size > maxFile {
			return nil, lines.Errorf("more than %d MiB: give fewer rows", maxFile>>20)
		}
		if err := p.read(lines.Text()); err != nil {
			return nil, lines.Errorf("%w", err)
		}
	}
	if err := lines.Failed("give a table of tab-separated values"); err != nil {
		return nil, err
	}
	switch {
	case p.columns == nil:
		return nil, fmt.Errorf("%s has no line with names of columns: give a table with %s", name, wanted())
	case p.rows == 0:
		return nil, fmt.Errorf("%s has no rows: give a table with measurements", name)
	case p.another != "" && !strings.EqualFold(p.table.Machine, machine):
		return nil, fmt.Errorf("%s has rows of machines %q, %q, and none of %q: %w", name, p.table.Machine, p.another, printable.Name(machine), ErrAbsent)
	}
	if p.table.Machine == "" {
		p.table.Machine = MachineOf(p.table.Head)
	}
	if err := p.table.count(); err != nil {
		return nil, err
	}
	return p.table, nil
}

// MachineOf is the machine's name in a line "machine:" of a head; "" if there is none.
func MachineOf(head []string) string {
	for _, line := range head {
		if found := machineLine.FindStringSubmatch(line); found != nil {
			return strings.Join(strings.Fields(found[1]), " ")
		}
	}
	return ""
}

var machineLine = regexp.MustCompile(`(?i)^machine\s*[:=](.*)`)

// OneMachine refuses tables that name different machines.
func OneMachine(tables []*Table) error {
	var first *Table
	for _, t := range tables {
		switch {
		case t.Machine == "":
		case first == nil:
			first = t
		case !strings.EqualFold(t.Machine, first.Machine):
			return fmt.Errorf("%s is of machine %q, and %s of %q", first.Name, printable.Name(first.Machine), t.Name, printable.Name(t.Machine))
		}
	}
	return nil
}

// A parser reads a table line by line.
type parser struct {
	lines   *infile.Lines
	table   *Table
	layout  *layout
	columns map[string]int
	width   int // columns
	rows    int
	last    string // last field of the row before
	machine string // of the rows to read, if there are several machines; "": there must be one
	another string // a second machine, if neither it nor the table's is the wanted one
}

func (p *parser) read(line string) (err error) {
	if head, comment := strings.CutPrefix(line, "#"); comment {
		if len(p.table.Head) == maxHead {
			return fmt.Errorf("more than %d lines of comment: leave some out", maxHead)
		}
		p.table.Head = append(p.table.Head, strings.TrimSpace(strings.ToValidUTF8(head, "?")))
		return nil
	}
	if strings.TrimSpace(line) == "" {
		return nil
	}
	if strings.ContainsRune(line, 0) {
		return errors.New("a zero byte; the file is UTF-16 or no text, save it as plain text, UTF-8 or ASCII")
	}
	fields := lists.Map(strings.Split(line, "\t"), strings.TrimSpace)
	if p.columns == nil {
		p.width = len(fields)
		p.layout, p.columns, err = layoutOf(fields)
		return err
	}
	last := fields[len(fields)-1]
	switch {
	case len(fields) != p.width:
		return fmt.Errorf("%s, and the columns are %d: a row has one for each, - where nothing is known", printable.Count(len(fields), "field"), p.width)
	case p.lines.Cut && p.rows > 0 && strings.Trim(p.last, "0123456789.") == "" && decimal.Cut(last, p.last):
		return fmt.Errorf("the file ends in the middle of this line, after %.40q: if that is whole nevertheless, add a line end", last)
	case p.rows == maxRows:
		return fmt.Errorf("more than %d rows: give fewer", maxRows)
	}
	p.rows++
	p.last = last
	row := row{columns: p.columns, fields: fields, line: p.lines.Number}
	switch machine := row.word("machine"); {
	case machine == "" || machine == p.table.Machine:
	case p.table.Machine == "":
		p.table.Machine = machine
	case p.machine == "":
		return fmt.Errorf("machine is %q, and above it is %q: %w", machine, p.table.Machine, ErrMachines)
	case strings.EqualFold(machine, p.machine): // the rows above are another machine's
		p.table = &Table{Name: p.table.Name, Head: p.table.Head, Machine: machine}
	case strings.EqualFold(p.table.Machine, p.machine):
		return row.err
	default:
		p.another = machine
	}
	p.layout.take(p.table, &row)
	return row.err
}

// A layout is a kind of rows.
type layout struct {
	columns []string // required; a|b is either
	take    func(*Table, *row)
}

// layouts are for collectives, streams, fanouts and messages.
var layouts = []layout{
	{[]string{"collective", "alg_id|algorithm", "P", "m_bytes", "latency_us"}, func(t *Table, r *row) {
		c := Collective{
			Line: r.line, Collective: collectiveOf(r), ID: r.optional("alg_id"), Algorithm: r.word("algorithm"), Mapping: r.word("mapping"),
			P: r.count("P", 1, maxRanks), Size: r.count("m_bytes", 0, params.MostBytes), Times: r.times(),
			Noise: r.noise(),
		}
		if r.word("nodes") != "" {
			c.Nodes = r.count("nodes", 1, maxRanks)
		}
		if r.err == nil && c.ID < 0 && c.Algorithm == "" {
			r.fail("alg_id and algorithm are both -: one of them says which algorithm it was")
		}
		t.Collectives = append(t.Collectives, c)
	}},
	{[]string{"level", "pairs", "m_bytes", "us_per_message"}, func(t *Table, r *row) {
		t.Points = append(t.Points, Point{r.line, r.level(), params.ChannelGap, r.count("pairs", 1, maxRanks), -1, -1, r.count("m_bytes", 0, params.MostBytes), r.alike("us_per_message")})
	}},
	{[]string{"level", "P", "m_bytes", "latency_us"}, func(t *Table, r *row) {
		t.Points = append(t.Points, Point{r.line, r.level(), params.ChannelFanout, r.count("P", 2, maxRanks) - 1, -1, -1, r.count("m_bytes", 0, params.MostBytes), r.times()})
	}},
	{[]string{"level", "m_bytes", "latency_us"}, func(t *Table, r *row) {
		m := Point{r.line, r.level(), params.ChannelMessage, 1, r.optional("src_core"), r.optional("dst_core"), r.count("m_bytes", 0, params.MostBytes), r.alike("latency_us")}
		if r.err == nil && (m.From < 0) != (m.To < 0) {
			r.fail("one of src_core and dst_core is -: give both, or neither")
		}
		if r.err == nil && m.Mean == 0 {
			r.fail("latency_us is 0, which is no time of a message: leave the row out")
		}
		t.Points = append(t.Points, m)
	}},
}

// layoutOf is the first layout with all its columns among the names.
func layoutOf(names []string) (*layout, map[string]int, error) {
	switch {
	case len(names) == 1 && strings.ContainsAny(names[0], ",; "):
		return nil, nil, errors.New("columns are separated by tabs, and this line has none: separate them so")
	case strings.HasPrefix(names[0], `"`):
		return nil, nil, errors.New("the names of columns are in quotation marks: write the table without them")
	}
	at := make(map[string]int, len(names))
	for i, name := range names {
		if _, twice := at[name]; twice {
			return nil, nil, fmt.Errorf("column %.40q is there twice: leave one out", name)
		}
		at[name] = i
	}
	var lacks []string // columns that the nearest layout lacks
	for i := range layouts {
		var missing []string
		for _, column := range layouts[i].columns {
			if !slices.ContainsFunc(strings.Split(column, "|"), func(name string) bool { _, there := at[name]; return there }) {
				missing = append(missing, strings.ReplaceAll(column, "|", " or "))
			}
		}
		if len(missing) == 0 {
			return &layouts[i], at, nil
		}
		if lacks == nil || len(missing) < len(lacks) {
			lacks = missing
		}
	}
	return nil, nil, fmt.Errorf("no column %s among %s: a table has %s", strings.Join(lacks, ", "), printable.List(names), wanted())
}

// wanted lists the columns of all layouts.
func wanted() string {
	all := lists.Map(layouts, func(l layout) string { return strings.Join(l.columns, ", ") })
	return "the columns " + strings.ReplaceAll(strings.Join(all, "; or "), "|", " or ")
}

// A row is read column by column; err is the first error.
type row struct {
	columns map[string]int
	fields  []string
	line    int
	err     error
}

func (r *row) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// word is the text of a column; "": missing or unknown.
func (r *row) word(column string) string {
	i, there := r.columns[column]
	if !there || r.fields[i] == "-" {
		return ""
	}
	if text := r.fields[i]; len(text) <= maxName {
		return strings.ToValidUTF8(text, "?")
	}
	r.fail("%s is %.40q…: the most is %d letters", column, r.fields[i], maxName)
	return ""
}

func (r *row) level() string {
	level := strings.Join(strings.Fields(r.word("level")), "_")
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	if level == "" || len(level) > maxName || strings.Trim(level, letters) != "" {
		r.fail("%.40q is no level: give a name of letters, digits, spaces, _, - and ., such as same_socket", level)
	}
	return level
}

// count is a whole number.
func (r *row) count(column string, least, most int) int {
	n, err := strconv.Atoi(r.fields[r.columns[column]])
	if err != nil || n < least || n > most {
		r.fail("%s is %.40q: give a whole number from %d to %d", column, r.fields[r.columns[column]], least, most)
		return least
	}
	return n
}

// optional is a whole number from 0; −1: unknown.
func (r *row) optional(column string) int {
	if r.word(column) == "" {
		return -1
	}
	return r.count(column, 0, maxCores)
}

// time is the time in ns of a column in µs; NaN: unknown, unless it must be known.
func (r *row) time(column string, must bool) float64 {
	text := r.word(column)
	if text == "" && !must {
		return math.NaN()
	}
	us, err := decimal.Parse(text)
	if text == "" {
		r.fail("%s is missing or unknown: give a time in µs, or leave the row out", column)
	} else if err != nil || !(us >= 0 && us <= maxTime) || math.Signbit(us) {
		r.fail("%s is %.40q: give a time in µs, a number from 0", column, text)
	}
	return math.Round(us*1e9) / 1e6 // without rounding errors of a product: 0.14 is 140
}

// alike are Times of one column.
func (r *row) alike(column string) Times {
	ns := r.time(column, true)
	return Times{ns, ns}
}

// times reads Times. A slowest rank below the mean is an error, except for cut digits: 1 % and 10 ns.
func (r *row) times() Times {
	mean, slowest := r.time("latency_us", true), r.time("max_us", false)
	switch {
	case math.IsNaN(slowest):
		slowest = 0
	case 1.01*slowest+10 < mean:
		r.fail("max_us is %s, less than latency_us: correct it, or put - where it is not known", r.word("max_us"))
	}
	return Times{slowest, mean}
}

// noise reports whether the flags contain an n, as letters in any order or in a word.
func (r *row) noise() bool {
	flag := strings.ToLower(r.word("flag"))
	return strings.Contains(flag, "n") && flag != "none" && flag != "no" && flag != "nan"
}
