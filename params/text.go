package params

import (
	"bytes"
	"cmp"
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
)

// Limits of a text file.
const (
	maxLine  = 1 << 20 // bytes
	maxCells = 1 << 20 // rows times columns
	maxSize  = 1 << 50 // bytes of a message
)

// MostBytes is the largest message of a file.
const MostBytes = maxSize

// ReadText reads L(m,τ) and o(m) in the text format of the authors' tools: two lines with the numbers
// of sizes and of τ, "#m<TAB>30" and "#tau<TAB>8", further comments that begin with #, and a line for
// each size with m in bytes, o(m), L(m,1), L(m,2) … in seconds, all separated by tabs.
//
// It accepts empty lines and comments in front, blanks for tabs, blanks and tabs at the ends of lines,
// CRLF, a byte order mark and Ctrl-Z at the end. If the last line has all its columns but no line end,
// Table.Doubt says so. Errors begin with name and the line.
func ReadText(r io.Reader, name string) (*Table, error) {
	text, err := transfersText.read(r, name)
	if err != nil {
		return nil, err
	}
	t := &Table{Transfers: Curve{Sizes: text.sizes}, Doubt: text.doubt}
	for tau := range text.columns {
		t.Transfers.Taus = append(t.Transfers.Taus, tau+1)
	}
	for _, row := range text.rows {
		t.Overheads, t.Transfers.Times = append(t.Overheads, row[0]), append(t.Transfers.Times, row[1:])
	}
	return t, nil
}

// ReadGammaText reads γ(m) as ReadText does, with the number of operators in line 2 ("#max_ops" or
// "#tau_op"), their names in line 3, and a column for each. The format has no τ: γ holds for any.
func ReadGammaText(r io.Reader, name string) (*Gamma, error) {
	text, err := gammaText.read(r, name)
	if err != nil {
		return nil, err
	}
	g := &Gamma{Doubt: text.doubt}
	for i := range text.columns {
		times := lists.Map(text.rows, func(row []float64) []float64 { return row[i : i+1 : i+1] })
		g.Operators = append(g.Operators, Operator{text.names[i], Curve{Sizes: text.sizes, Times: times}})
	}
	return g, nil
}

// A textFormat is one of the two formats of text files.
type textFormat struct {
	counted  []string // names for the number of columns in line 2; the first is written
	extra    int      // columns before these
	decimals int      // written
	check    func(names []string, columns int) error
}

var (
	transfersText = textFormat{[]string{"tau"}, 1, 12, checkTauNames}
	gammaText     = textFormat{[]string{"max_ops", "tau_op"}, 0, 15, checkOperators}
)

func checkOperators(names []string, columns int) error {
	if len(names) != columns {
		return fmt.Errorf("line 3 names %d operators, line 2 declares %d", len(names), columns)
	}
	seen := map[string]bool{}
	for _, name := range names {
		key := strings.ToLower(name)
		if name == "" || seen[key] {
			return fmt.Errorf("operator %.40q of line 3 is empty or there twice", name)
		}
		seen[key] = true
	}
	return nil
}

// WriteText writes a table in the format of ReadText, times with 12 decimals. The table must have every τ
// from 1, and 1 byte as its first size, see Table.Fill.
func WriteText(w io.Writer, t *Table) error {
	if sizes := t.Transfers.Sizes; len(sizes) == 0 || sizes[0] != 1 {
		return errors.New("text format: its readers want a first size of 1 byte; measure it too")
	}
	names := []string{"o(m)"}
	for i, tau := range t.Transfers.Taus {
		if tau != i+1 {
			return fmt.Errorf("text format: τ = %d is missing, its readers want every τ from 1; measure it too", i+1)
		}
		names = append(names, fmt.Sprintf("L(m, %d)", tau))
	}
	return transfersText.write(w, names, t.Transfers.Sizes, func(i, column int) float64 {
		if column == 0 {
			return t.Overheads[i]
		}
		return t.Transfers.Times[i][column-1]
	})
}

// WriteGammaText writes the operators' γ(m,1) in the format of ReadGammaText, with 15 decimals, since
// times can be as short as picoseconds. All operators must have the same sizes.
func WriteGammaText(w io.Writer, g *Gamma) error {
	if len(g.Operators) == 0 {
		return errors.New("text format: no operators")
	}
	var names []string
	sizes := g.Operators[0].Sizes
	for _, o := range g.Operators {
		if !slices.Equal(o.Sizes, sizes) {
			return fmt.Errorf("text format: operators %s and %s have different sizes", names[0], o.Name)
		}
		if len(o.Taus) > 0 && o.Taus[0] != 1 {
			return fmt.Errorf("text format: operator %s has no γ for τ = 1; measure it too", o.Name)
		}
		names = append(names, o.Name)
	}
	return gammaText.write(w, names, sizes, func(i, column int) float64 { return g.Operators[column].Times[i][0] })
}

// write writes a table that read accepts, else it fails.
func (f textFormat) write(w io.Writer, names []string, sizes []int, at func(row, column int) float64) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "#m\t%d\n#%s\t%d\n#m\t%s\n", len(sizes), f.counted[0], len(names)-f.extra, strings.Join(names, "\t"))
	for i, m := range sizes {
		b.WriteString(strconv.Itoa(m))
		for column := range names {
			b.WriteByte('\t')
			b.WriteString(strconv.FormatFloat(at(i, column), 'f', f.decimals, 64))
		}
		b.WriteByte('\n')
	}
	if _, err := f.read(bytes.NewReader(b.Bytes()), "what was to be written"); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// A textTable is a table in either format.
type textTable struct {
	columns int      // number that line 2 declares
	names   []string // of the columns, from the last comment line in front of the first row
	sizes   []int
	rows    [][]float64 // the extra columns, then the declared ones
	doubt   error       // the last line has no line end
}

// read reads a table whose line 2 declares the number of columns.
func (f textFormat) read(r io.Reader, name string) (*textTable, error) {
	lines := lineReader{infile.NewLines(r, name, maxLine)}
	rows, err := lines.count("m")
	if err != nil {
		return nil, err
	}
	columns, err := lines.count(f.counted...)
	if err != nil {
		return nil, err
	}
	if rows > maxCells/columns {
		return nil, lines.Errorf("%d sizes by %d columns declared; the most that is read is %d times in all", rows, columns, maxCells)
	}

	t := &textTable{columns: columns}
	before := 0
	last := "" // last number of the row before
	for {
		line, err := lines.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if line == "" {
			continue
		}
		if names, comment := strings.CutPrefix(line, "#"); comment {
			if fields := cells(names); isSize(fields[0]) && len(t.rows) == 0 {
				t.names = fields[1:]
			}
			continue
		}
		if len(t.rows) == rows {
			return nil, lines.Errorf("more sizes than the %d that line \"#m\" declares", rows)
		}
		fields := cells(line)
		size, times, err := parseRow(fields, columns+f.extra)
		if err == nil {
			err = checkNext("size", before, size)
		}
		if lines.Cut {
			t.doubt, err = lines.unended(fields, columns+f.extra, cmp.Or(last, fields[max(0, len(fields)-2)]), err)
		}
		if err == nil && len(t.rows) == 0 {
			err = f.check(t.names, columns)
		}
		if err != nil {
			return nil, lines.Errorf("%w", err)
		}
		t.sizes, t.rows = append(t.sizes, size), append(t.rows, times)
		before, last = size, fields[len(fields)-1]
	}
	if read := len(t.rows); read < rows {
		return nil, lines.Errorf("ends after %d of the %d sizes that line \"#m\" declares", read, rows)
	}
	return t, nil
}

// unended judges a last row without a line end, which was parsed with err; like is a number in the same
// format as its last one. A row with all its columns counts, with a doubt; a row that was certainly cut
// is an error.
func (l lineReader) unended(fields []string, times int, like string, err error) (doubt, _ error) {
	last := fields[len(fields)-1]
	if len(fields) <= times || err == nil && decimal.Severed(last, like) {
		return nil, fmt.Errorf("the file ends in the middle of this line, after %.40q; if that is whole nevertheless, add a line end", last)
	}
	may := printable.If(decimal.Cut(last, like), ", though it may have lost digits")
	return fmt.Errorf("%s:%d: the last row has no line end: its last number, %.40s, is taken as it stands%s", l.Name, l.Number, last, may), err
}

// isSize recognises the name of the first column, which tells a line of column names from other comments.
func isSize(name string) bool {
	return slices.Contains([]string{"m", "size", "bytes", "m_bytes"}, strings.ToLower(strings.TrimSuffix(name, ":")))
}

func parseRow(row []string, columns int) (size int, times []float64, err error) {
	if len(row) != columns+1 {
		return 0, nil, fmt.Errorf("%d columns, want %d: m and %d times, separated by tabs", len(row), columns+1, columns)
	}
	size64, err := strconv.ParseInt(row[0], 10, 64)
	if err != nil || size64 > maxSize {
		return 0, nil, fmt.Errorf("%.40q is no message size in bytes", row[0])
	}
	times = make([]float64, columns)
	for i, cell := range row[1:] {
		v, err := decimal.Parse(cell)
		if err != nil || !(v >= 0 && v <= longest) || math.Signbit(v) {
			return 0, nil, fmt.Errorf("column %d: %.40q is no time in seconds", i+2, cell)
		}
		times[i] = v
	}
	return int(size64), times, nil
}

// cells splits a line at tabs, or at blanks if it has no tabs: editors and terminals convert tabs. The
// blank of the customary names L(m, 1) does not count.
func cells(line string) []string {
	if strings.Contains(line, "\t") {
		return lists.Map(strings.Split(line, "\t"), strings.TrimSpace)
	}
	row := strings.Fields(strings.ReplaceAll(line, ", ", ","))
	if len(row) == 0 {
		return []string{""}
	}
	return row
}

var tauName = regexp.MustCompile(`^L\d*\(m, *(\d+)\)$`)

// checkTauNames refuses column names L(m,τ) that leave a τ out; it accepts any other names.
func checkTauNames(names []string, _ int) error {
	want := 1
	for _, name := range names {
		if match := tauName.FindStringSubmatch(name); match != nil {
			if match[1] != strconv.Itoa(want) {
				return fmt.Errorf("column %.40q where τ = %d is due; every τ from 1 must be there", name, want)
			}
			want++
		}
	}
	return nil
}

// A lineReader reads lines without surrounding white space.
type lineReader struct{ *infile.Lines }

// next returns the next line, and io.EOF after the last.
func (l lineReader) next() (string, error) {
	if !l.Scan() {
		return "", cmp.Or(l.Failed("this is no parameter file"), io.EOF)
	}
	line := l.Text()
	switch {
	case l.Number == 1 && (strings.HasPrefix(line, "\xff\xfe") || strings.HasPrefix(line, "\xfe\xff")):
		return "", l.Errorf("the file is UTF-16; save it as plain text, UTF-8 or ASCII")
	case strings.ContainsRune(line, 0):
		return "", l.Errorf("a zero byte; the file is UTF-16 or no text, save it as plain text, UTF-8 or ASCII")
	}
	return strings.Trim(line, " \t\r\n\x1a"), nil // Ctrl-Z ends text files of DOS and its editors
}

// count is the number in a line such as "#m<TAB>30", with one of the names given; empty lines and other
// comments may come before it.
func (l lineReader) count(names ...string) (int, error) {
	for {
		line, err := l.next()
		if err == io.EOF {
			return 0, l.Errorf("the file ends here; a line \"#%s<TAB>number\" is missing", names[0])
		}
		if err != nil {
			return 0, err
		}
		comment, found := strings.CutPrefix(line, "#")
		if line == "" {
			continue
		}
		row := cells(strings.TrimSpace(comment))
		name := strings.TrimSuffix(row[0], ":")
		known := slices.Contains(names, name)
		if found && known && len(row) == 2 {
			if n, err := strconv.Atoi(row[1]); err == nil && n >= 1 && n <= maxCells {
				return n, nil
			}
		}
		// Comments in words have a blank after #, lines with counts or column names do not.
		counts := slices.Contains([]string{"m", "tau", "tau_op", "max_ops"}, name)
		switch {
		case !found && !strings.ContainsAny(line[:1], "+-.0123456789"):
			return 0, l.Errorf("%.60q: this is no parameter file, name one that taulop sweep or import wrote, or a table in the published text format, which begins with \"#%s<TAB>number\"", line, names[0])
		case !found, counts && comment[0] != ' ':
			return 0, l.Errorf("%.60q, want \"#%s<TAB>number\" with a number from 1 to %d", line, names[0], maxCells)
		}
	}
}
