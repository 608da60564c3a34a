package mpi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/spelling"
	"github.com/taulop/taulop/internal/view"
)

// A Setting selects one of a library's algorithms with its parameters. The zero value leaves the
// choice to the library's decision function.
type Setting struct {
	ID      int    `json:"id"`        // Open MPI's; 0 of others
	Name    string `json:"algorithm"` // what the library calls it, "" for its own choice
	Fan     int    `json:"fan,omitempty"`
	Segment int    `json:"segment_bytes,omitempty"` // 0: whole messages
}

// Own reports whether the choice is the library's.
func (s Setting) Own() bool { return s == Setting{} }

func (s Setting) String() string {
	if s.Own() {
		return "its own choice"
	}
	return printable.Either(s.ID > 0, fmt.Sprintf("%d %s", s.ID, s.Name), s.Name) +
		printable.If(s.Fan > 0, fmt.Sprintf(", fan %d", s.Fan)) +
		printable.If(s.Segment > 0, ", segment "+view.Size(s.Segment))
}

// An offer is an algorithm that a library lets users select.
type offer struct {
	collective string
	id         int
	name       string // in the library
	algorithm  string // in package collective
	fans       []int  // fan-outs to try; nil: it has no fan-out
	segmented  bool   // it has a segment size
	halved     bool   // it segments each half of a message
	rounded    bool   // it rounds the number of segments of a rank's block, see evenly
	blocking   bool   // see collective.Schedule
	toSelf     bool   // see collective.Schedule
	degree     int    // fixed by the library; 0: it is not
	chunk      int    // bytes, fixed by the library; 0: it is not
	defaultFan int    // where the algorithm is forced without a fan-out

	unsegmented string           // algorithm without segments; "": the same
	unbranched  string           // algorithm for fan-outs 0 and 1; "": the same
	fallback    string           // algorithm for communicator sizes that this one does not support; "": not known
	fallbackFew string           // algorithm for fewer elements than least; "": the same
	least       func(p int) int  // elements
	correct     func(p int) bool // communicator sizes without a known bug of the library; nil: all
	parts       [2]string        // collectives that it runs one after the other, each by the library's own choice
}

// textbook is an algorithm of package collective. A test proves that all names exist.
func (o offer) textbook(algorithm string) *collective.Algorithm {
	a, err := collective.Lookup(o.collective + ":" + algorithm)
	if err != nil {
		panic(err)
	}
	return a
}

// segments are the segment sizes to search, in bytes.
var segments = []int{8 << 10, 32 << 10, 128 << 10, 512 << 10}

func (l *Library) offered(c *collective.Collective) []offer {
	return lists.Filter(l.offers, func(o offer) bool { return o.collective == c.Name })
}

// Collectives are the collectives with selectable algorithms, by name.
func (l *Library) Collectives() []*collective.Collective {
	return lists.Filter(collective.Collectives(), func(c *collective.Collective) bool { return len(l.offered(c)) > 0 })
}

// WithElements is the library with reductions of elements of this size: decisions depend on their count.
func (l *Library) WithElements(bytes int) *Library {
	with := *l
	with.element = bytes
	return &with
}

// elementOf is the bytes of an element: decisions of collectives other than reductions count bytes.
func (l *Library) elementOf(c *collective.Collective) int {
	if c.Reduces {
		return cmp.Or(l.element, 8)
	}
	return 1
}

// Settings are all selectable settings for messages of m bytes among p ranks, each algorithm first
// without segments.
func (l *Library) Settings(c *collective.Collective, p, m int) (all []Setting) {
	for _, o := range l.offered(c) {
		if !o.textbook(o.algorithm).Among.Has(p) || o.correct != nil && !o.correct(p) {
			continue
		}
		fans := slices.DeleteFunc(slices.Clone(o.fans), func(fan int) bool { return fan >= p })
		if o.fans == nil {
			fans = []int{0}
		}
		for _, fan := range fans {
			all = append(all, Setting{ID: o.id, Name: o.name, Fan: fan})
			for _, s := range segments {
				if o.segmented && s < m && (!o.halved || s <= m/2) {
					all = append(all, Setting{ID: o.id, Name: o.name, Fan: fan, Segment: s})
				}
			}
		}
	}
	return all
}

// Schedule is the library's schedule under a setting, for the ranks, bytes and root of a call. It
// fails for an unknown setting, a communicator size that the algorithm does not support, and an
// unknown own choice.
func (l *Library) Schedule(c *collective.Collective, s Setting, on collective.Call) (*collective.Schedule, error) {
	if s.Own() {
		own, known := l.own(l, c, on.P, on.M)
		if !known {
			return nil, fmt.Errorf("what %s takes for %s by itself is not known", l.Version, c.Name)
		}
		s = own
	}
	o, known := l.offer(c, s)
	if !known {
		return nil, fmt.Errorf("%s has no %s of %s", l.Version, s, c.Name)
	}
	call := collective.Call{P: on.P, M: on.M, Root: on.Root, Degree: cmp.Or(o.degree, s.Fan), Chunk: max(1, cmp.Or(o.chunk, on.M))}
	name := o.algorithm
	switch {
	case s.Segment > 0 && s.Segment < on.M:
		if call.Chunk = s.Segment; o.rounded {
			call.Chunk = evenly(on.P, on.M, s.Segment)
		}
	case o.unsegmented != "":
		name = o.unsegmented
	}
	if o.fallbackFew != "" && (max(1, on.M/l.elementOf(c)) < o.least(on.P) || o.halved && s.Segment > on.M/2) {
		name = o.fallbackFew
	}
	if o.unbranched != "" && s.Fan < 2 {
		name, call.Degree = o.unbranched, 0
	}
	a := o.textbook(name)
	if !a.Among.Has(on.P) && o.fallback != "" {
		a = o.textbook(o.fallback)
	}
	laid, err := a.Schedule(call)
	if err != nil {
		return nil, err
	}
	laid.Blocking, laid.ToSelf = o.blocking && name == o.algorithm, o.toSelf
	return l.inParts(o, laid), nil
}

// evenly is the bytes of equal segments of a rank's block: their number is m/P over the segment size, rounded,
// and 1 at the least (num_phases of coll_base_allreduce.c).
func evenly(p, m, segment int) int {
	block := (m + p - 1) / p
	segments := max(1, (2*m+p*segment-1)/(2*p*segment))
	return (block + segments - 1) / segments
}

// inParts joins the schedules of the offer's parts; it is laid if known are none or one is not known.
func (l *Library) inParts(o offer, laid *collective.Schedule) *collective.Schedule {
	var parts []*collective.Schedule
	call := laid.Call
	for _, name := range o.parts {
		c := collective.Named(name)
		if c == nil {
			return laid
		}
		part, err := l.Schedule(c, Setting{}, collective.Call{P: call.P, M: call.M, Root: call.Root})
		if err != nil {
			return laid
		}
		parts = append(parts, part)
		call.M = part.Size(call.Root, collective.Recv) // bytes of the root's result
	}
	return collective.Join(laid.Algorithm, laid.Call, parts...)
}

// Own is the library's decision for m bytes among p ranks on a number of nodes, and whether it is known.
func (l *Library) Own(c *collective.Collective, p, nodes, m int) (s Setting, known bool) {
	if l.unsure && nodes > 1 {
		return Setting{}, false
	}
	return l.own(l, c, p, m)
}

// Forced is the setting of an algorithm by its number or name, with default parameters. Names may
// differ in case and separators, and may lack the words basic and tree. It fails for an unknown
// algorithm and suggests the nearest name.
func (l *Library) Forced(c *collective.Collective, algorithm string) (Setting, error) {
	all := l.offered(c)
	if len(all) == 0 {
		return Setting{}, fmt.Errorf("taulop knows no numbers and names of %s for algorithms of %s", l.Version, c)
	}
	found := lists.Filter(all, func(o offer) bool { return o.name == algorithm || o.id > 0 && fmt.Sprint(o.id) == algorithm })
	if len(found) == 0 && (algorithm == "0" || algorithm == "ignore") {
		return Setting{}, nil
	}
	if len(found) == 0 {
		found = lists.Filter(all, func(o offer) bool { return bare(o.name) == bare(algorithm) })
	}
	if len(found) != 1 {
		names := lists.Map(all, func(o offer) string { return o.name })
		return Setting{}, fmt.Errorf("%s has no algorithm %.40q of %s; %s", l.Version, algorithm, c.Name, spelling.Suggest(algorithm, names))
	}
	return found[0].forced(), nil
}

// forced is the algorithm's setting with default parameters.
func (o offer) forced() Setting { return Setting{ID: o.id, Name: o.name, Fan: o.defaultFan} }

// bare is an algorithm's name without case, separators and the words basic and tree.
func bare(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("_- .", r) })
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "basic" || w == "tree" }), "")
}

// find is the first algorithm of a collective that matches.
func (l *Library) find(collective string, matches func(offer) bool) (o offer, known bool) {
	i := slices.IndexFunc(l.offers, func(o offer) bool { return o.collective == collective && matches(o) })
	if i < 0 {
		return offer{}, false
	}
	return l.offers[i], true
}

func (l *Library) offer(c *collective.Collective, s Setting) (offer, bool) {
	return l.find(c.Name, func(o offer) bool { return o.id == s.ID && o.name == s.Name })
}

// numbered is the setting of an algorithm by its number, and whether the library has it; 0 is its own
// choice.
func (l *Library) numbered(collective string, id, fan, segment int) (Setting, bool) {
	if id == 0 {
		return Setting{}, true
	}
	o, known := l.find(collective, func(o offer) bool { return o.id == id })
	return Setting{o.id, o.name, fan, segment}, known
}
