package comm

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

func read(t testing.TB, text string) *Matrix { return must.Get(Read(strings.NewReader(text), "f")) }

// text lists the messages of a matrix.
func text(m *Matrix) string {
	var all []string
	for from, e := range m.All() {
		all = append(all, fmt.Sprintf("%d-%d:%d/%d", from, e.To, e.Bytes, e.Messages))
	}
	return strings.Join(all, " ")
}

var files = []struct{ text, want string }{
	{"0,1,2\n3,0,4\n5,6,0\n", "0-1:1/1 0-2:2/1 1-0:3/1 1-2:4/1 2-0:5/1 2-1:6/1"},
	{"\ufeff9;1e3\r\n2.6;9;\r\n", "0-1:1000/1 1-0:3/1"},
	{"0 1\n\n0 0\n", "0-1:1/1"},
	{"0,1 # to 1\n2,0,# to 0\n", "0-1:1/1 1-0:2/1"},
	{"# bytes\n# of a day\n0.000e+00 1.000e+03\n2.000e+00 0.000e+00\n# the end\n", "0-1:1000/1 1-0:2/1"},
	{"# a day\nfrom,to,bytes\n# its morning\n1,0,2\n", "1-0:2/1"},
	{"from,to,bytes\n0,3,10\n3,0,20\n0,3,5\n", "0-3:15/2 3-0:20/1"},
	{"From\tTo\tBytes\tMessages\n1\t0\t100\t7\n1\t2\t0\t3\n2\t0\t0\t0\n", "1-0:100/7 1-2:0/3"},
	{"# POINT TO POINT\nE\t1\t0\t12 bytes\t3 msgs sent\t3,0\nI\t1\t0\t8 bytes\t1 msgs sent\n# OSC\nR\t0\t1\t5 bytes\t1 msgs sent\n# COLLECTIVES\nC\t1\t0\t8 bytes\t1 msgs sent\nD\tMPI_COMM_WORLD\tprocs: 0,1\nO2A\t1\t0 bytes\t0 msgs sent\n", "1-0:25/5"},
}

func TestRead(t *testing.T) {
	for _, tt := range files {
		check.Equal(t, text(read(t, tt.text)), tt.want, "%q", tt.text)
	}
}

func TestReadFaults(t *testing.T) {
	for _, tt := range []struct{ text, says string }{
		{"", "f: the file is empty"},
		{"# nothing\n", "f:1: the file is empty"},
		{"{\"format\": 1}\n", "f:1: this is no communication matrix"},
		{"0,1\n1,0\n1,1\n", "f:3: line 3 of values, and a line has 2: a communication matrix is square"},
		{"0,1,2\n1,0,2\n", "2 lines of 3 values: a communication matrix is square"},
		{"0,1\n1\n", "f:2: 1 value, and the first line has 2: a communication matrix is square"},
		{"0,-1\n1,0\n", `f:1: "-1" is below zero`},
		{"0,NaN\n1,0\n", `f:1: "NaN" is no number: where nothing is sent write 0 (process 0 to 1)`},
		{"0,Inf\n1,0\n", "more than 2^50"}, {"0,1e400\n1,0\n", "more than 2^50"},
		{"0,x\n1,0\n", `f:1: "x" is no number of bytes`}, {"0,\n,0\n", "is square"}, {"a\x00b", "this is no text"},
		{strings.Repeat("1,", MaxRanks) + "1\n", "has 1 to 4096"},
		{strings.Repeat("1,", maxLine), "f:1: a line of more than 1048576 bytes: this is no communication matrix"},
		{"from,to,size\n", `"size" in place 3`},
		{"from,to\n", "the heading is not from,to,bytes"},
		{"from,to,bytes\n", "nothing below it"},
		{"from,to,bytes\n0,1\n", "f:2: 2 values, and the heading has 3"},
		{"from,to,bytes\n0,b,1\n", "are no two processes"},
		{"from,to,bytes\n0,-1,1\n", "number them from 0"},
		{"from,to,bytes\n0,4096,1\n", "has 4096 at the most"},
		{"from,to,bytes\n0,1,-4\n", "below zero"},
		{"from,to,bytes\n0,1,1e15\n0,1,1e15\n", "more than 2^50"},
		{strings.Repeat(strings.Repeat("1e15,", 64)+"\n", 64), "more than 2^55"},
		{"# POINT TO POINT\n# OSC\n", "no process sends anything"},
		{"# POINT TO POINT\nE\t0\t1\tmany bytes\n", "is no line of Open MPI's monitoring"},
		{"E\t0\t9999\t1 bytes\t1 msgs sent\n", "is too much"},
		{"E\t0\t1\t99999999999999999999 bytes\t1 msgs sent\n", "is too much"},
	} {
		contains.Error(t, must.Err(Read(strings.NewReader(tt.text), "f")), tt.says)
	}
}

// What Open MPI 4.1.4 wrote of bench/mpi/messages.c among two processes.
func TestMonitoring(t *testing.T) {
	var both []byte
	for _, name := range []string{"testdata/messages.0.prof", "testdata/messages.1.prof"} {
		one := must.Get(os.ReadFile(name))
		check.True(t, IsMonitoring(one), "%s is not recognised", name)
		both = append(both, one...)
	}
	m := read(t, string(both))
	check.Need(t, m.Ranks() == 2 && m.Pairs() == 1, "%d processes, %d pairs", m.Ranks(), m.Pairs())
	got := m.Entry(1, 0)
	check.True(t, got.Bytes == 1447936+739968 && got.Messages == 606+2309, "process 1 to 0: %+v", got)
}

func TestWithMessages(t *testing.T) {
	m, counts := read(t, "0,10,0\n20,0,0\n0,0,0"), read(t, "0,3,0\n0,0,0\n0,5,0")
	must.Do(m.WithMessages(counts))
	check.Equal(t, text(m), "0-1:10/3 1-0:20/1 2-1:0/5", "matrix")
	contains.Error(t, m.WithMessages(read(t, "0,1\n0,0\n")), "of as many")
}

// Sums that an int64 does not hold are refused, too.
func TestAdd(t *testing.T) {
	m, err := New(2)
	check.Need(t, err == nil && m.Add(0, 1, maxBytes, 1) == nil, "%v", err)
	for _, err := range []error{m.Add(0, 1, math.MaxInt64, 1), m.Add(0, 1, 1, math.MaxInt64)} {
		contains.Error(t, err, "more than 2^50")
	}
}

func TestVolumes(t *testing.T) {
	m := read(t, "from,to,bytes,messages\n0,1,10,1\n1,0,5,1\n2,0,0,3\n")
	check.Equal(t, fmt.Sprint(m.Volumes()), "[[{1 15} {2 1}] [{0 15}] [{0 1}]]", "Volumes")
}

func TestPatterns(t *testing.T) {
	try := func(name string, p, rank int, want []int) {
		t.Helper()
		row := must.Get(Lookup(name).Matrix(p, 1<<16)).Row(rank)
		check.Slices(t, lists.Map(row, func(e Entry) int { return e.To }), want, "%s of %d: process %d sends to", name, p, rank)
	}
	try("grid2d", 16, 5, []int{1, 4, 6, 9})
	try("grid2d", 12, 0, []int{1, 3}) // 4 by 3
	try("grid2d", 7, 3, []int{2, 4})
	try("grid3d", 8, 0, []int{1, 2, 4})
	try("ring", 5, 4, []int{0})
	try("transpose", 16, 1, []int{4})
	try("transpose", 16, 5, nil)
	try("bt", 16, 0, []int{1, 3, 4, 7, 12, 13}) // of make_set.f: east, west, north and south, and two diagonals
	try("sp", 16, 5, []int{1, 2, 4, 6, 8, 9})
	try("lu", 16, 5, []int{1, 4, 6, 9})
	try("cg", 16, 1, []int{0, 3, 4}) // halves of the row, and the transposed one
	try("cg", 8, 1, []int{0, 3})     // two rows of four: its own transposed one is itself
	try("mg", 8, 0, []int{1, 2, 4})  // two each way
	try("ft", 4, 2, []int{0, 1, 3})
	try("is", 4, 0, []int{1, 2, 3})
	try("ep", 3, 1, []int{0, 2})
	for i := range Patterns {
		pattern := &Patterns[i]
		made := 0
		for p := 1; p <= 130; p++ {
			m, err := pattern.Matrix(p, 4096)
			if err != nil {
				check.True(t, pattern.Among != "" && strings.Contains(err.Error(), pattern.Among), "%s of %d: %v", pattern.Name, p, err)
				continue
			}
			made++
			check.True(t, p <= 2 || m.Pairs() != 0, "%s of %d sends nothing", pattern.Name, p)
			for from, e := range m.All() {
				check.Need(t, e.To != from && e.Messages >= 1 && e.Bytes >= 1 && e.Bytes <= 2*4096*e.Messages, "%s of %d: %d sends %+v", pattern.Name, p, from, e)
			}
		}
		check.AtLeast(t, made, 7, "numbers of processes of %s", pattern.Name)
	}
	check.True(t, Lookup("btx") == nil, "btx is a pattern")
	contains.Error(t, must.Err(Lookup("bt").Matrix(15, 100)), "bt is for a square number of processes, like 16, not 15")
}
