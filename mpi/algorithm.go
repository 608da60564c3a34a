package mpi

import (
	"fmt"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
)

// An Algorithm is what carries a collective out: one of package collective, as textbooks have it,
// or what a library does.
type Algorithm struct {
	Collective *collective.Collective
	Textbook   *collective.Algorithm // nil: Setting of Library
	Library    *Library
	Setting    Setting // zero: its own choice
}

// own is the name of a library's own choice.
const own = "own"

// Find finds what a name asks for: all of a collective, or as in "bcast:binomial" one of it. Without
// a library these are textbooks'. A library has its own choice, which is named "own" and comes
// first, and its algorithms with their usual fan-outs and whole messages, by their numbers or
// names, or by the names that textbooks have for them; collectives of which it has no
// algorithms here are textbooks'. It fails for names that are not known.
func Find(l *Library, name string) ([]Algorithm, error) {
	of, word, one := strings.Cut(name, ":")
	c := collective.Named(of)
	if l == nil || c == nil || len(l.offered(c)) == 0 {
		switch {
		case c == nil || word != own:
		case l == nil:
			return nil, fmt.Errorf("%s is what an MPI library takes by itself: name the library, like %s", name, libraries[0].Name)
		default:
			return nil, fmt.Errorf("what %s takes for %s by itself is not known here", l.Version, of)
		}
		found, err := collective.Find(name)
		return lists.Map(found, func(a *collective.Algorithm) Algorithm { return Algorithm{Collective: a.Collective, Textbook: a} }), err
	}
	all := []Algorithm{{Collective: c, Library: l}}
	if one && word == own {
		return all, nil
	}
	if one {
		s, err := l.Forced(c, word)
		if o, there := l.find(c.Name, func(o offer) bool { return o.algorithm == word }); err != nil && there {
			s, err = o.forced(), nil
		}
		all[0].Setting = s
		return all, err
	}
	for _, o := range l.offered(c) {
		all = append(all, Algorithm{Collective: c, Library: l, Setting: o.forced()})
	}
	return all, nil
}

// Own tells whether it is a library's own choice.
func (a Algorithm) Own() bool { return a.Library != nil && a.Setting.Own() }

// Name is without the collective.
func (a Algorithm) Name() string {
	switch {
	case a.Textbook != nil:
		return a.Textbook.Name
	case a.Own():
		return own
	}
	return a.Setting.String()
}

// String is a name that Find takes, or the library's: bcast:binomial, bcast:6 binomial.
func (a Algorithm) String() string { return a.Collective.Name + ":" + a.Name() }

// Lacks says why it does not exist for p ranks on that many nodes, "" where it does.
func (a Algorithm) Lacks(p, nodes int) string {
	of, _, _ := a.Like()
	switch {
	case a.Own() && a.Library.unsure && nodes > 1:
		return "is not known for several nodes"
	case a.Own():
		return ""
	case of == nil:
		return "is not among those of " + a.Library.Version
	case !of.Among.Has(p):
		return "needs " + of.Among.String()
	}
	return ""
}

// Like is the algorithm of textbooks that it is, and whether a degree and chunks lay it out; nil of a
// library's own choice.
func (a Algorithm) Like() (of *collective.Algorithm, branched, chunked bool) {
	if a.Textbook != nil {
		return a.Textbook, a.Textbook.Branched, a.Textbook.Chunked
	}
	if o, there := a.Library.offer(a.Collective, a.Setting); there {
		return o.of(o.algorithm), o.fans != nil, o.segmented
	}
	return nil, false, false
}

// laid is the setting of a library's algorithm with a degree as its fan-out and chunks as its
// segments, where the library lets them be chosen; 0 leaves them.
func (a Algorithm) laid(degree, chunk int) Setting {
	s := a.Setting
	o, _ := a.Library.offer(a.Collective, s)
	if degree > 0 && o.fans != nil {
		s.Fan = degree
	}
	if chunk > 0 && o.segmented {
		s.Segment = chunk
	}
	return s
}

// Schedule is what it does for a call, and what it takes there, in words: a library's own choice,
// or its algorithm with the degree and the chunks of the call, and what an algorithm of textbooks
// chooses that only chooses; "" where it is what its name says. It fails where the algorithm does
// not exist for the call, and where a library's own choice is not known.
func (a Algorithm) Schedule(call collective.Call) (s *collective.Schedule, taken string, err error) {
	if a.Textbook != nil {
		if s, err = a.Textbook.Schedule(call); err == nil && s.Algorithm != a.Textbook {
			taken = s.Algorithm.Name
		}
		return s, taken, err
	}
	setting := a.laid(call.Degree, call.Chunk)
	if a.Own() {
		setting, _ = a.Library.Own(a.Collective, call.P, call.M)
	}
	if setting != a.Setting {
		taken = setting.String()
	}
	s, err = a.Library.Schedule(a.Collective, setting, call)
	return s, taken, err
}
