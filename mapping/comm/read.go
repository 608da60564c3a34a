package comm

import (
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
)

// Limits of files.
const (
	maxFile = 1 << 28 // bytes
	maxLine = 1 << 20
)

// Read reads a matrix. The first line decides the format:
//
//   - a square CSV file: row i has the bytes that process i sends to each;
//   - a CSV file with the heading from,to,bytes or from,to,bytes,messages, and a line for each pair;
//   - output of Open MPI's monitoring component for one or several processes, concatenated:
//     point-to-point messages, and the messages of collectives.
//
// Values are separated by commas, semicolons, tabs or spaces. Processes that are not listed send nothing.
// Errors begin with name and the line, if there is one.
func Read(r io.Reader, name string) (*Matrix, error) {
	in := &reader{Lines: infile.NewLines(io.LimitReader(r, maxFile+1), name, maxLine)}
	m, err := in.read()
	if failed := in.Failed("this is no communication matrix"); failed != nil {
		return nil, failed
	}
	if err == nil && in.Size > maxFile {
		err = fmt.Errorf("the file is longer than %d MB", maxFile>>20)
	}
	switch {
	case err != nil && in.Number == 0:
		return nil, fmt.Errorf("%s: %w", name, err)
	case err != nil:
		return nil, in.Errorf("%w", err)
	}
	m.Name = name
	return m, nil
}

// WithMessages takes the numbers of messages from the bytes of another matrix. It fails if the two have
// different numbers of processes.
func (m *Matrix) WithMessages(counts *Matrix) error {
	if counts.Ranks() != m.Ranks() {
		return fmt.Errorf("%s is of %d processes, and %s of %d: give matrices of as many", counts.Name, counts.Ranks(), m.Name, m.Ranks())
	}
	for from, row := range m.rows {
		for i := range row {
			row[i].Messages = max(1, counts.Entry(from, row[i].To).Bytes)
		}
	}
	for from, e := range counts.All() {
		if m.Entry(from, e.To).Messages == 0 { // messages of nothing
			if err := m.Add(from, e.To, 0, e.Bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

type reader struct {
	*infile.Lines
	text    string
	entries int // read so far
}

// next goes to the next line that is not empty, without a comment behind values.
func (in *reader) next() bool {
	for in.Scan() {
		in.text = strings.TrimSpace(in.Text())
		if comment := strings.IndexByte(in.text, '#'); comment > 0 {
			in.text = strings.TrimSpace(in.text[:comment])
		}
		if in.text != "" {
			return true
		}
	}
	return false
}

func (in *reader) read() (*Matrix, error) {
	more := in.next()
	for more && strings.HasPrefix(in.text, "#") && !strings.HasPrefix(in.text, pointToPoint) {
		more = in.next() // a heading of numpy.savetxt
	}
	if !more {
		return nil, errors.New("the file is empty: give a matrix as CSV or of Open MPI's monitoring")
	}
	if strings.ContainsRune(in.text, 0) {
		return nil, errors.New("this is no text: give a matrix as CSV or of Open MPI's monitoring")
	}
	switch lower := strings.ToLower(in.text); {
	case strings.HasPrefix(in.text, "{"):
		return nil, errors.New("this is no communication matrix: give one as CSV or of Open MPI's monitoring; a file of a machine is no matrix")
	case strings.HasPrefix(in.text, pointToPoint), monitored.MatchString(in.text):
		return in.monitoring()
	case strings.HasPrefix(lower, "from"):
		return in.list(fields(lower))
	}
	return in.square()
}

// fields are the values of a line, separated by commas, semicolons or tabs, else by spaces.
func fields(text string) []string {
	for _, separator := range []string{",", ";", "\t"} {
		if strings.Contains(text, separator) {
			parts := lists.Map(strings.Split(text, separator), strings.TrimSpace)
			if last := len(parts) - 1; parts[last] == "" { // a separator ends the line
				parts = parts[:last]
			}
			return parts
		}
	}
	return strings.Fields(text)
}

// whole reads a number of bytes or messages and rounds it; it may have a fraction or an exponent.
func whole(text string) (int64, error) {
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%.40q is no number of bytes or messages: write one like 65536", text)
	case math.IsNaN(v):
		return 0, fmt.Errorf("%.40q is no number: where nothing is sent write 0", text)
	case v < 0:
		return 0, fmt.Errorf("%.40q is below zero: write 0 or more", text)
	case v > maxBytes:
		return 0, fmt.Errorf("%.40q is more than 2^50: this is no communication of a program", text)
	}
	return int64(math.Round(v)), nil
}

// square reads a matrix with a line for each sender.
func (in *reader) square() (*Matrix, error) {
	first := fields(in.text)
	m, err := New(len(first))
	if err != nil {
		return nil, err
	}
	from := 0
	for more := true; more; more = in.next() {
		if strings.HasPrefix(in.text, "#") {
			continue
		}
		values := fields(in.text)
		if from >= len(first) {
			return nil, fmt.Errorf("line %d of values, and a line has %d: a communication matrix is square", from+1, len(first))
		}
		if len(values) != len(first) {
			return nil, fmt.Errorf("%s, and the first line has %d: a communication matrix is square", printable.Count(len(values), "value"), len(first))
		}
		for to, text := range values {
			bytes, err := whole(text)
			if err != nil {
				return nil, fmt.Errorf("%w (process %d to %d)", err, from, to)
			}
			if bytes > 0 && from != to {
				if err := in.add(m, from, to, bytes, 1); err != nil {
					return nil, err
				}
			}
		}
		from++
	}
	if from < len(first) {
		return nil, fmt.Errorf("%s of %s: a communication matrix is square", printable.Count(from, "line"), printable.Count(len(first), "value"))
	}
	return m, nil
}

// add adds to a matrix, which grows with the processes.
func (in *reader) add(m *Matrix, from, to int, bytes, messages int64) error {
	switch {
	case from < 0 || to < 0:
		return fmt.Errorf("process %d sends to %d: number them from 0", from, to)
	case max(from, to) >= MaxRanks:
		return fmt.Errorf("process %d: a communication matrix has %d at the most", max(from, to), MaxRanks)
	case in.entries >= maxEntries:
		return fmt.Errorf("more than %d pairs of processes: give a smaller matrix", maxEntries)
	}
	in.entries++
	for m.Ranks() <= max(from, to) {
		m.rows = append(m.rows, nil)
	}
	return m.Add(from, to, bytes, messages)
}

// list reads a line for each pair of processes, below a heading.
func (in *reader) list(heading []string) (*Matrix, error) {
	want := []string{"from", "to", "bytes", "messages"}
	if len(heading) < 3 || len(heading) > 4 {
		return nil, errors.New("the heading is not from,to,bytes or from,to,bytes,messages")
	}
	for i, name := range heading {
		if name != want[i] {
			return nil, fmt.Errorf("the heading has %.40q in place %d: write from,to,bytes or from,to,bytes,messages", name, i+1)
		}
	}
	m := &Matrix{}
	for in.next() {
		if strings.HasPrefix(in.text, "#") {
			continue
		}
		values := fields(in.text)
		if len(values) != len(heading) {
			return nil, fmt.Errorf("%s, and the heading has %d", printable.Count(len(values), "value"), len(heading))
		}
		from, errFrom := strconv.Atoi(values[0])
		to, errTo := strconv.Atoi(values[1])
		if errFrom != nil || errTo != nil {
			return nil, fmt.Errorf("%.40q and %.40q are no two processes: number them from 0", values[0], values[1])
		}
		bytes, err := whole(values[2])
		if err != nil {
			return nil, err
		}
		messages := min(bytes, 1) // without bytes nothing is sent
		if len(values) == 4 {
			if messages, err = whole(values[3]); err != nil {
				return nil, err
			}
		}
		if err := in.add(m, from, to, bytes, messages); err != nil {
			return nil, err
		}
	}
	if m.Ranks() == 0 {
		return nil, errors.New("there is a heading and nothing below it: give a line for each two processes that communicate")
	}
	return m, nil
}

// monitored is a line of Open MPI's monitoring component (ompi/mca/common/monitoring) for a pair of
// processes: E are the program's own messages, I the messages of collectives, S and R one-sided
// puts and gets.
var monitored = regexp.MustCompile(`^([EISR])\s+(\d+)\s+(\d+)\s+(\d+) bytes\s+(\d+) msgs (?:sent|received)\b`)

// pointToPoint is the beginning of a file.
const pointToPoint = "# POINT TO POINT"

// other is a line that is not about a pair, or repeats messages of collectives.
var other = regexp.MustCompile(`^(#|[CD]\s|O2A\s|A2O\s|A2A\s)`)

// monitoring reads the files of one or several processes. Collectives count as their messages (I), not as
// calls (C).
func (in *reader) monitoring() (*Matrix, error) {
	m := &Matrix{}
	for more := true; more; more = in.next() {
		found := monitored.FindStringSubmatch(in.text)
		if found == nil {
			if other.MatchString(in.text) {
				continue
			}
			return nil, fmt.Errorf("%.60q is no line of Open MPI's monitoring component: give the files of pml_monitoring_filename as they are", in.text)
		}
		var numbers [4]int64
		for i, text := range found[2:6] {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n > maxBytes || i < 2 && n >= MaxRanks {
				return nil, fmt.Errorf("%.40q is too much: there are %d processes at the most, and 2^50 bytes between two", text, MaxRanks)
			}
			numbers[i] = n
		}
		from, to := int(numbers[0]), int(numbers[1])
		if found[1] == "R" { // a get: the data come from the other process
			from, to = to, from
		}
		if err := in.add(m, from, to, numbers[2], numbers[3]); err != nil {
			return nil, err
		}
	}
	if m.Ranks() < 2 {
		return nil, errors.New("no process sends anything: give the files of all processes, of a program that sends messages")
	}
	return m, nil
}

// IsMonitoring reports whether a file begins like one of Open MPI's monitoring component,
// of which a program has one for each process.
func IsMonitoring(first []byte) bool {
	line, _, _ := strings.Cut(string(first), "\n")
	return strings.HasPrefix(line, pointToPoint) || monitored.MatchString(line)
}
