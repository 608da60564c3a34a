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
	Among      Among  // supported communicator sizes
	Chunked    bool   // it depends on Call.Chunk
	Branched   bool   // it depends on Call.Degree
	// Paired: the authors' library costs the two messages of an exchange together, instead of following
	// each rank.
	Paired bool

	plan func(*Schedule)
}

// String is the name that Lookup takes: collective:name.
func (a *Algorithm) String() string { return a.Collective.Name + ":" + a.Name }

// Schedule is the algorithm's schedule for a call. Its size in memory grows at most with log P and log M,
// except for the stages that fill and empty a chain, one a chunk. It fails for invalid calls and
// unsupported communicator sizes.
func (a *Algorithm) Schedule(c Call) (*Schedule, error) {
	c, err := c.check(a)
	if err != nil {
		return nil, err
	}
	s := &Schedule{Algorithm: a, Call: c, Unit: c.M}
	a.plan(s)
	return s, nil
}

// Reduces reports whether ranks combine what they receive; models need γ.
func (a *Algorithm) Reduces() bool { return a.Collective.Reduces }

// Among is a set of communicator sizes.
type Among int

const (
	AnyRanks Among = iota
	PowerOfTwo
	EvenRanks
	TwoRanks
	Thousands // each rank has a schedule of its own
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

// Has reports whether p is in the set.
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

// nearest suggests communicator sizes in place of p, which is not in the set.
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

// known are the registered algorithms.
var known []*Algorithm

// register adds an algorithm; plan builds its schedule.
func register(c *Collective, name, source string, plan func(*Schedule)) *Algorithm {
	a := &Algorithm{Collective: c, Name: name, Source: source, plan: plan}
	known = append(known, a)
	return a
}

// All are all algorithms by collective and name.
func All() []*Algorithm {
	all := slices.Clone(known)
	slices.SortFunc(all, func(a, b *Algorithm) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// Of are the algorithms of one collective in order. It fails for an unknown collective and suggests the
// nearest name.
func Of(collective string) ([]*Algorithm, error) {
	c := Named(collective)
	if c == nil {
		names := Names(Collectives())
		return nil, fmt.Errorf("unknown collective %.40q; %s", collective, spelling.Suggest(collective, names))
	}
	return c.Algorithms(), nil
}

// Find finds an algorithm as Lookup does, or all of a collective.
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

// Lookup finds an algorithm by collective and name, as in "bcast:binomial". It fails for an unknown
// algorithm and suggests the nearest name, or lists the collective's algorithms.
func Lookup(name string) (*Algorithm, error) {
	if a := find(name); a != nil {
		return a, nil
	}
	collective, algorithm, full := strings.Cut(name, ":")
	candidates, err := Of(collective)
	if err != nil && !full {
		return nil, err
	}
	if candidates == nil {
		candidates = All()
	}
	names := lists.Map(candidates, func(a *Algorithm) string { return a.String() })
	if !full {
		return nil, fmt.Errorf("%q is a collective, not an algorithm; take one of %s", name, strings.Join(names, ", "))
	}
	nearest := spelling.Nearest(name, names)
	_, nearestName, _ := strings.Cut(nearest, ":")
	switch {
	case err == nil && (nearest == "" || spelling.Edits(algorithm, nearestName) > max(1, len(algorithm)/3)):
		names = lists.Map(candidates, func(a *Algorithm) string { return a.Name })
		return nil, fmt.Errorf("unknown algorithm %q; %s has %s", name, collective, strings.Join(names, ", "))
	case nearest == "":
		return nil, err
	}
	return nil, fmt.Errorf("unknown algorithm %q; did you mean %q?", name, nearest)
}

// find is Lookup that returns nil for an unknown name.
func find(name string) *Algorithm { return named(known, name) }

func named(all []*Algorithm, name string) *Algorithm {
	for _, a := range all {
		if a.String() == name {
			return a
		}
	}
	return nil
}
