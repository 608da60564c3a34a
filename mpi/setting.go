package mpi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/spelling"
	"github.com/taulop/taulop/internal/view"
)

// A Setting is what a library is told: one of its algorithms, and how to lay it out. The zero
// value leaves it to the library.
type Setting struct {
	ID      int    `json:"id"`        // Open MPI's; 0 of others
	Name    string `json:"algorithm"` // what the library calls it, "" for its own choice
	Fan     int    `json:"fan,omitempty"`
	Segment int    `json:"segment_bytes,omitempty"` // 0: whole messages
}

// Own tells whether it leaves the choice to the library.
func (s Setting) Own() bool { return s == Setting{} }

// Algorithm is the number and the name of a setting's algorithm.
func (s Setting) Algorithm() string {
	if s.ID > 0 {
		return fmt.Sprintf("%d %s", s.ID, s.Name)
	}
	return s.Name
}

func (s Setting) String() string {
	if s.Own() {
		return "its own choice"
	}
	text := s.Algorithm()
	if s.Fan > 0 {
		text += fmt.Sprintf(", fan %d", s.Fan)
	}
	if s.Segment > 0 {
		text += ", segment " + view.Size(s.Segment)
	}
	return text
}

// An offer is one algorithm that a library can be told.
type offer struct {
	collective string
	id         int
	name       string // the library's
	algorithm  string // ours
	fans       []int  // fan-outs to try; none if there is no choice
	segmented  bool   // it takes a segment size
	halved     bool   // its segments are of half a message
	blocking   bool   // it sends by MPI_Send, see collective.Schedule
	toSelf     bool   // ranks send their own block to themselves, see collective.Schedule
	degree     int    // that the library fixes, 0 where it does not
	chunk      int    // bytes of the chunks that the library fixes, 0 where it does not
	usual      int    // fan-out that it takes where a user forces it and names none
	whole      string // the algorithm where messages are whole, if that is another one
	single     string // the algorithm of a fan-out of 0 or 1, if that is another one
	otherwise  string // what the library takes for ranks that the algorithm does not exist for; "": not known
	few        string // what it takes for fewer elements than least, if that is another one
	least      func(p int) int
	wholly     func(p int) bool // numbers of ranks among which the library's own is without faults; nil: all
	// parts are two collectives that it carries out one after the other, each as it would
	// choose by itself.
	parts [2]string
}

// of is an algorithm of ours. Tests see that it is there.
func (o offer) of(algorithm string) *collective.Algorithm {
	a, err := collective.Lookup(o.collective + ":" + algorithm)
	if err != nil {
		panic(err)
	}
	return a
}

// segments are the segment sizes to try, in bytes.
var segments = []int{8 << 10, 32 << 10, 128 << 10, 512 << 10}

// offered are the algorithms of a collective.
func (l *Library) offered(c *collective.Collective) (all []offer) {
	for _, o := range l.offers {
		if o.collective == c.Name {
			all = append(all, o)
		}
	}
	return all
}

// Collectives are the collectives that it can be told an algorithm of, in the order of their names.
func (l *Library) Collectives() (all []*collective.Collective) {
	for _, c := range collective.Collectives() {
		if len(l.offered(c)) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// WithElements is the library where reductions have elements of that many bytes, which it counts.
func (l *Library) WithElements(bytes int) *Library {
	with := *l
	with.element = bytes
	return &with
}

// elementOf is the size of elements that is supposed of a collective, in bytes: only where they
// are reduced it matters to any number of them that programs send.
func (l *Library) elementOf(c *collective.Collective) int {
	if c.Reduces {
		return cmp.Or(l.element, 8)
	}
	return 1
}

// Settings are all that the library can be told for messages of m bytes among p ranks, an
// algorithm's whole messages first.
func (l *Library) Settings(c *collective.Collective, p, m int) (all []Setting) {
	for _, o := range l.offered(c) {
		if !o.of(o.algorithm).Among.Has(p) || o.wholly != nil && !o.wholly(p) {
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

// Schedule is what the library does under a setting, for a call's ranks, bytes and root; the zero
// setting is its own choice. It fails for a setting that it does not have, or not for that many
// ranks, and for an own choice that is not known.
func (l *Library) Schedule(c *collective.Collective, s Setting, on collective.Call) (*collective.Schedule, error) {
	if s.Own() {
		own, known := l.Own(c, on.P, on.M)
		if !known {
			return nil, fmt.Errorf("what %s takes for %s by itself is not known", l.Version, c.Name)
		}
		s = own
	}
	o, there := l.offer(c, s)
	if !there {
		return nil, fmt.Errorf("%s has no %s of %s", l.Version, s, c.Name)
	}
	call := collective.Call{P: on.P, M: on.M, Root: on.Root, Degree: cmp.Or(o.degree, s.Fan), Chunk: max(1, cmp.Or(o.chunk, on.M))}
	name := o.algorithm
	switch {
	case s.Segment > 0 && s.Segment < on.M:
		call.Chunk = s.Segment
	case o.whole != "":
		name = o.whole
	}
	if o.few != "" && (max(1, on.M/l.elementOf(c)) < o.least(on.P) || o.halved && s.Segment > on.M/2) {
		name = o.few
	}
	if o.single != "" && s.Fan < 2 {
		name, call.Degree = o.single, 0
	}
	a := o.of(name)
	if !a.Among.Has(on.P) && o.otherwise != "" {
		a = o.of(o.otherwise)
	}
	laid, err := a.Schedule(call)
	if err != nil {
		return nil, err
	}
	laid.Blocking, laid.ToSelf = o.blocking && name == o.algorithm, o.toSelf
	return l.inParts(o, laid), nil
}

// inParts is an algorithm in its parts; as it is laid out where it has none, or they are not known.
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
		call.M = part.Size(call.Root, collective.Recv) // what the root has by then
	}
	return collective.Join(laid.Algorithm, laid.Call, parts...)
}

// Own is what the library chooses by itself; it is not known where Own is false.
func (l *Library) Own(c *collective.Collective, p, m int) (s Setting, known bool) {
	return l.own(l, c, p, m)
}

// Forced is the setting of an algorithm that the user names, by its number or name, and says
// no more of: names may have capitals, other letters between words, and no word basic or tree. It
// fails for one that the library does not have, and names the nearest.
func (l *Library) Forced(c *collective.Collective, algorithm string) (Setting, error) {
	all := l.offered(c)
	if len(all) == 0 {
		return Setting{}, fmt.Errorf("taulop knows no numbers and names of %s for algorithms of %s", l.Version, c)
	}
	o, there := l.find(c.Name, func(o offer) bool { return o.name == algorithm || o.id > 0 && fmt.Sprint(o.id) == algorithm })
	if !there && (algorithm == "0" || algorithm == "ignore") {
		return Setting{}, nil
	}
	if !there {
		var names []string
		like := 0
		for _, other := range all {
			if names = append(names, other.name); bare(other.name) == bare(algorithm) {
				o, like = other, like+1
			}
		}
		if like != 1 {
			return Setting{}, fmt.Errorf("%s has no algorithm %.40q of %s; %s", l.Version, algorithm, c.Name, spelling.Suggest(algorithm, names))
		}
	}
	return o.forced(), nil
}

// forced is the setting of an algorithm of which the user says no more.
func (o offer) forced() Setting { return Setting{ID: o.id, Name: o.name, Fan: o.usual} }

// bare is an algorithm's name without what people leave out of it.
func bare(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("_- .", r) })
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "basic" || w == "tree" }), "")
}

// find is the first algorithm of a collective that is the one asked for.
func (l *Library) find(collective string, is func(offer) bool) (o offer, there bool) {
	i := slices.IndexFunc(l.offers, func(o offer) bool { return o.collective == collective && is(o) })
	if i < 0 {
		return offer{}, false
	}
	return l.offers[i], true
}

// offer is the algorithm of a setting.
func (l *Library) offer(c *collective.Collective, s Setting) (offer, bool) {
	return l.find(c.Name, func(o offer) bool { return o.id == s.ID && o.name == s.Name })
}

// numbered is the setting of an algorithm's number, and false where there is none; 0 is the
// library's own choice.
func (l *Library) numbered(collective string, id, fan, segment int) (Setting, bool) {
	if id == 0 {
		return Setting{}, true
	}
	o, there := l.find(collective, func(o offer) bool { return o.id == id })
	return Setting{o.id, o.name, fan, segment}, there
}
