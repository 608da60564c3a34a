// Package mpi describes MPI libraries: their protocols within a node (eager, rendezvous, single
// copy), their algorithms and decision functions of collectives, and the formats of their rules files.
//
// A library is data with its sources, in a file of its own and a line of the list below. Package model
// costs the messages.
package mpi

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/spelling"
)

// A Library is an MPI library with its defaults.
type Library struct {
	Name  string // in options, such as "openmpi4"
	Title string // its protocols, such as "Open MPI 4.0 and 4.1, ob1 over vader"

	// Ways are the protocols by rising message size; the last one has no limit. None: not known.
	Ways []Way
	// Self is the longest message of a rank to itself, in bytes, that is copied through a buffer;
	// longer ones are single copies. 0: not known.
	Self int
	// Call is the number of instructions of a rank in a collective besides its messages, Reduction that
	// of a reduction besides its elements. 0: not counted.
	Call, Reduction int
	Counted         string // source of the numbers of instructions
	// Scalar, if not empty, says why reductions use no vector instructions.
	Scalar string

	Version string // of its algorithms, decision function and rules file, such as "Open MPI 4.1"
	heads   string // regular expression for its name in the headers of benchmark tables
	offers  []offer
	own     func(l *Library, c *collective.Collective, p, m int) (Setting, bool) // decision function
	unsure  bool                                                                 // own does not know all that the library's decision depends on
	rules   *format                                                              // nil: no rules file is written
	base    *Tree                                                                // decision tree of MPICH; nil: the built-in one
	element int                                                                  // bytes of an element of reductions; 0: 8
}

// libraries are all known libraries in the order of listings.
var libraries = []*Library{
	openMPI4, openMPI4None, openMPI4UCX, openMPI5, openMPI5None, openMPI6,
	mpich4, mpich40OFI, mpich4OFI, mpich51,
	openMPI40, openMPI3, openMPI1, // without Ways; before a library whose heads match more
}

// over is the library with other protocols. Rules files are written for the original alone.
func (l *Library) over(name, title string, ways []Way) *Library {
	derived := *l
	derived.Name, derived.Title, derived.Ways, derived.rules, derived.heads = name, title, ways, nil, ""
	return &derived
}

func (l *Library) hasWays() bool  { return l.Ways != nil }
func (l *Library) hasRules() bool { return l.rules != nil }

// Libraries are the libraries with known protocols, in order.
func Libraries() []*Library { return lists.Filter(libraries, (*Library).hasWays) }

// Named finds one of the Libraries. The error suggests the nearest name and lists all.
func Named(name string) (*Library, error) {
	return named(name, "unknown MPI library %.40q; %s", Libraries())
}

// Tunable finds a library with a rules file. The error suggests the nearest name.
func Tunable(name string) (*Library, error) {
	return named(name, "there are no rules files for %q; %s", lists.Filter(libraries, (*Library).hasRules))
}

// TunableNames are the names of the libraries with a rules file.
func TunableNames() []string { return names(lists.Filter(libraries, (*Library).hasRules)) }

func names(libraries []*Library) []string {
	return lists.Map(libraries, func(l *Library) string { return l.Name })
}

func named(name, unknown string, among []*Library) (*Library, error) {
	for _, l := range among {
		if l.Name == strings.ToLower(name) {
			return l, nil
		}
	}
	return nil, fmt.Errorf(unknown, name, spelling.Suggest(cmp.Or(nextVersion(name, among), name), names(among)))
}

// nextVersion names the library of the same family with the next version that is known, else the newest
// one: of openmpi7 it is openmpi6. "" if a name does not end in a version or its family is unknown.
func nextVersion(name string, among []*Library) (next string) {
	family := strings.TrimRight(name, "0123456789.")
	version, err := strconv.ParseFloat(name[len(family):], 64)
	for _, l := range among {
		number, inFamily := strings.CutPrefix(l.Name, family)
		if known, notNumber := strconv.ParseFloat(number, 64); err == nil && inFamily && notNumber == nil {
			if next = l.Name; known >= version {
				break
			}
		}
	}
	return next
}

// others are libraries whose algorithms are not known, among them descendants of Open MPI.
const others = `(?:(?:IBM )?Spectrum[ -]?MPI|(?:IBM )?Platform MPI|Fujitsu MPI|(?:HPE|SGI) (?:MPI|MPT)|NEC MPI|Bull ?x? ?MPI)\b(?:[ /-]v?\d[.\w]*)?`

// OfHead is the library that the header of a benchmark's table names first, its name there, and whether
// its decision function is known for any number of nodes. Without such a name it is Open MPI 4.1,
// with known false; a library of others has no algorithms.
func OfHead(lines []string) (l *Library, version string, known bool) {
	for _, line := range lines {
		first := len(line)
		match := func(heads string, candidate *Library) {
			if at := regexp.MustCompile(`(?i)\b(?:` + heads + `)`).FindStringIndex(line); heads != "" && at != nil && at[0] < first {
				first, l, version, known = at[0], candidate, strings.TrimSpace(line[at[0]:at[1]]), !candidate.unsure
			}
		}
		for _, candidate := range libraries {
			match(candidate.heads, candidate)
		}
		other := &Library{own: func(*Library, *collective.Collective, int, int) (Setting, bool) { return Setting{}, false }, unsure: true}
		if match(others, other); l == other {
			other.Version = version
		}
		if l != nil {
			return l, version, known
		}
	}
	return openMPI4, "", false
}
