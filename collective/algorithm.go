package collective

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/spelling"
)

// Algorithm is one way to carry out a collective.
type Algorithm struct {
	Collective *Collective
	Name       string // such as "binomial"
	Source     string // where it is described
	Among      Among  // the numbers of ranks that it exists for
	Chunked    bool   // the Chunk of a call matters
	Branched   bool   // the Degree of a call matters
	// Paired: the two messages that partners exchange are one piece of work to the
	// authors' library, which otherwise follows each rank's own.
	Paired bool

	plan func(*Schedule)
}

// String is the name that Lookup takes: collective:name.
func (a *Algorithm) String() string { return a.Collective.Name + ":" + a.Name }

// Schedule lays the algorithm out for a call. Its size depends on neither P nor M, except by
// logarithms; only a chain has stages of its own while it fills and empties, as many as it has
// chunks. It fails for a senseless call, and if the algorithm does not exist for that P.
func (a *Algorithm) Schedule(c Call) (*Schedule, error) {
	c, err := c.check(a)
	if err != nil {
		return nil, err
	}
	s := &Schedule{Algorithm: a, Call: c, Unit: c.M}
	a.plan(s)
	return s, nil
}

// Reduces reports whether ranks combine what they receive, for which a model needs γ.
func (a *Algorithm) Reduces() bool { return a.Collective.Reduces }

// Among are numbers of ranks.
type Among int

const (
	AnyRanks Among = iota
	PowerOfTwo
	EvenRanks
	TwoRanks
	Thousands // of whose ranks each has a schedule of its own
)

func (a Among) String() string {
	return [...]string{
		AnyRanks:   "any number of ranks",
		PowerOfTwo: "a power of two of ranks",
		EvenRanks:  "an even number of ranks",
		TwoRanks:   "two ranks",
		Thousands:  "at most 65536 ranks",
	}[a]
}

// Has reports whether p is one of them.
func (a Among) Has(p int) bool {
	switch a {
	case PowerOfTwo:
		return p == floorPowerOfTwo(p)
	case EvenRanks:
		return p%2 == 0
	case TwoRanks:
		return p == 2
	case Thousands:
		return p <= 1<<16
	}
	return true
}

// nearest says which numbers to take instead of p, which is not among them.
func (a Among) nearest(p int) string {
	switch below := floorPowerOfTwo(p); {
	case a == PowerOfTwo:
		return fmt.Sprintf("the nearest are %d and %d", below, 2*below)
	case a == EvenRanks && p > 1:
		return fmt.Sprintf("the nearest are %d and %d", p-1, p+1)
	case a == Thousands:
		return "take P = 65536"
	}
	return "take P = 2"
}

// known grows as the files of this package introduce their algorithms.
var known []*Algorithm

// register makes an algorithm of a collective known; plan lays it out.
func register(c *Collective, name, source string, plan func(*Schedule)) *Algorithm {
	a := &Algorithm{Collective: c, Name: name, Source: source, plan: plan}
	known = append(known, a)
	return a
}

// All returns every algorithm, ordered by collective and name.
func All() []*Algorithm {
	all := slices.Clone(known)
	slices.SortFunc(all, func(a, b *Algorithm) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// Of returns the algorithms of one collective in order. It fails for a
// collective that is not known, and names the nearest one.
func Of(collective string) ([]*Algorithm, error) {
	c := Named(collective)
	if c == nil {
		names := Names(Collectives())
		return nil, fmt.Errorf("unknown collective %.40q; %s", collective, spelling.Suggest(collective, names))
	}
	return c.Algorithms(), nil
}

// Find finds what a name asks for: an algorithm, as Lookup does, or all of a collective.
func Find(name string) ([]*Algorithm, error) {
	if !strings.Contains(name, ":") {
		return Of(name)
	}
	a, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	return []*Algorithm{a}, nil
}

// Lookup finds an algorithm by collective and name, as in "bcast:binomial". It
// fails for one that is not known, and names the nearest one, or all of the collective
// where none is near.
func Lookup(name string) (*Algorithm, error) {
	if a := find(name); a != nil {
		return a, nil
	}
	collective, algorithm, full := strings.Cut(name, ":")
	of, err := Of(collective)
	if err != nil && !full {
		return nil, err
	}
	if of == nil {
		of = All()
	}
	names := lists.Map(of, func(a *Algorithm) string { return a.String() })
	if !full {
		return nil, fmt.Errorf("%q is a collective, not an algorithm; take one of %s", name, strings.Join(names, ", "))
	}
	nearest := spelling.Nearest(name, names)
	_, its, _ := strings.Cut(nearest, ":")
	switch {
	case err == nil && (nearest == "" || spelling.Edits(algorithm, its) > max(1, len(algorithm)/3)):
		for i, a := range of {
			names[i] = a.Name
		}
		return nil, fmt.Errorf("unknown algorithm %q; those of %s are %s", name, collective, strings.Join(names, ", "))
	case nearest == "":
		return nil, err
	}
	return nil, fmt.Errorf("unknown algorithm %q; did you mean %q?", name, nearest)
}

// find returns the algorithm of a name, or nil.
func find(name string) *Algorithm {
	for _, a := range known {
		if a.String() == name {
			return a
		}
	}
	return nil
}
