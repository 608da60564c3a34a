package comm

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// monitored is a line of Open MPI's monitoring component (ompi/mca/common/monitoring) for two
// processes: E are the program's own messages, I the messages of collectives, S and R one-sided
// puts and gets.
var monitored = regexp.MustCompile(`^([EISR])\s+(\d+)\s+(\d+)\s+(\d+) bytes\s+(\d+) msgs (?:sent|received)\b`)

// pointToPoint begins the first line of a file.
const pointToPoint = "# POINT TO POINT"

// other is a line about no pair of processes, or one that repeats messages by collectives.
var other = regexp.MustCompile(`^(#|[CD]\s|O2A\s|A2O\s|A2A\s)`)

// monitoring reads files of one process or several. Collectives are counted as the
// messages that they are made of (I), not as calls (C).
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
		if found[1] == "R" { // what is read from another one comes from there
			from, to = to, from
		}
		if err := in.add(m, from, to, numbers[2], numbers[3]); err != nil {
			return nil, err
		}
	}
	if err := in.ended(nil); err != nil {
		return nil, err
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
