// Package mpi says what MPI libraries do: how they carry a message between two ranks of a
// node, which algorithm they take for a collective if they are left the choice, and in which
// file they read other choices.
//
// Its opinion: a library is data with sources, in one file for each. A new one is such a file
// and a line in the list below. What messages cost is looked up by package model among the
// times of a machine, and what is worth choosing is found by package tune.
package mpi

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/spelling"
)

// A Library is an MPI library as it comes.
type Library struct {
	Name  string // as users call it, such as "openmpi4"
	Title string // how it carries messages, such as "Open MPI 4.0 and 4.1, ob1 over vader"

	// Ways are how messages go, rising by size, the last one for all that are longer; none where
	// that is not known.
	Ways []Way
	// Self is the longest message of a rank to itself, in bytes, that goes through a buffer; longer
	// ones are single copies. 0: not known.
	Self int
	// Call is how many instructions a collective takes a rank besides its messages, Reduction how
	// many a reduction takes besides its elements. 0: not counted.
	Call, Reduction int
	Counted         string // where numbers of instructions are from
	// Scalar, if not empty, is why it reduces one element at a time, without vector instructions.
	Scalar string

	Version string // whose algorithms, own choice and rules file these are, such as "Open MPI 4.1"
	// heads is a regular expression of how tables of measurements name it.
	heads  string
	offers []offer
	own    func(l *Library, c *collective.Collective, p, m int) (Setting, bool)
	// unsure: what it chooses by itself depends on more than own knows.
	unsure  bool
	rules   *format // of its rules file; nil: none is written for it
	base    *Tree   // of MPICH, what it chooses by itself; nil: as it comes
	element int     // bytes of an element of reductions; 0: 8
}

// libraries are all that are known, in the order in which they are listed.
var libraries = []*Library{
	openMPI4, openMPI4None, openMPI4UCX, openMPI5, openMPI5None, openMPI6,
	mpich4, mpich40OFI, mpich4OFI, mpich51,
	openMPI40, openMPI3, openMPI1, // of tables alone, each before one whose heads are wider
}

// over is a library that carries messages in other ways. Rules files are the library's, whatever
// the way.
func (l *Library) over(name, title string, ways []Way) *Library {
	of := *l
	of.Name, of.Title, of.Ways, of.rules, of.heads = name, title, ways, nil, ""
	return &of
}

// Libraries are the libraries whose way of messages is known, in order.
func Libraries() (all []*Library) {
	for _, l := range libraries {
		if l.Ways != nil {
			all = append(all, l)
		}
	}
	return all
}

// Named finds one of the Libraries. The error names the nearest of them, and all.
func Named(name string) (*Library, error) {
	return named(name, "unknown MPI library %.40q; %s", func(l *Library) bool { return l.Ways != nil })
}

// Tunable finds a library that rules files are written for. It fails for others, and names the nearest.
func Tunable(name string) (*Library, error) {
	return named(name, "there are no rules files for %q; %s", func(l *Library) bool { return l.rules != nil })
}

// TunableNames are the names of libraries that rules files are written for.
func TunableNames() (names []string) {
	for _, l := range libraries {
		if l.rules != nil {
			names = append(names, l.Name)
		}
	}
	return names
}

// named finds a library of a kind.
func named(name, unknown string, of func(*Library) bool) (*Library, error) {
	var names []string
	for _, l := range libraries {
		if !of(l) {
			continue
		}
		if l.Name == strings.ToLower(name) {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return nil, fmt.Errorf(unknown, name, spelling.Suggest(name, names))
}

// others are libraries with algorithms of their own, also where they were made from Open MPI.
const others = `(?:(?:IBM )?Spectrum[ -]?MPI|(?:IBM )?Platform MPI|Fujitsu MPI|(?:HPE|SGI) (?:MPI|MPT)|NEC MPI|Bull ?x? ?MPI)\b(?:[ /-]v?\d[.\w]*)?`

// OfHead is the library that lines name first, the words that name it, and whether it is known what it
// chooses by itself wherever its ranks are. It is Open MPI 4.1 where no line names one, whose own
// choice then counts as not known, and one without algorithms for those that have their own.
func OfHead(lines []string) (l *Library, version string, known bool) {
	for _, line := range lines {
		first := len(line)
		see := func(heads string, of *Library) {
			if at := regexp.MustCompile(`(?i)\b(?:` + heads + `)`).FindStringIndex(line); heads != "" && at != nil && at[0] < first {
				first, l, version, known = at[0], of, strings.TrimSpace(line[at[0]:at[1]]), !of.unsure
			}
		}
		for _, of := range libraries {
			see(of.heads, of)
		}
		other := &Library{own: func(*Library, *collective.Collective, int, int) (Setting, bool) { return Setting{}, false }, unsure: true}
		if see(others, other); l == other {
			other.Version = version
		}
		if l != nil {
			return l, version, known
		}
	}
	return openMPI4, "", false
}
