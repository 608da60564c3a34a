package mpi

import (
	"fmt"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
)

// An Algorithm is a textbook algorithm of package collective, or a library's: its own choice or a setting.
type Algorithm struct {
	Collective *collective.Collective
	Textbook   *collective.Algorithm // nil: Setting of Library
	Library    *Library
	Setting    Setting // zero: its own choice
}

// own names a library's own choice.
const own = "own"

// Find finds all algorithms of a collective, such as "bcast", or one, such as "bcast:binomial". Without a
// library they are the textbook algorithms, and so they are for collectives without selectable
// algorithms. A library's first one is its own choice, "own"; the others, by number, name or textbook
// name, have default fan-outs and no segments. It fails for unknown names.
func Find(l *Library, name string) ([]Algorithm, error) {
	collectiveName, word, single := strings.Cut(name, ":")
	c := collective.Named(collectiveName)
	if l == nil || c == nil || len(l.offered(c)) == 0 {
		switch {
		case c == nil || word != own:
		case l == nil:
			return nil, fmt.Errorf("%s is what an MPI library takes by itself: name the library, like %s", name, libraries[0].Name)
		default:
			return nil, fmt.Errorf("what %s takes for %s by itself is not known here", l.Version, collectiveName)
		}
		found, err := collective.Find(name)
		return lists.Map(found, func(a *collective.Algorithm) Algorithm { return Algorithm{Collective: a.Collective, Textbook: a} }), err
	}
	all := []Algorithm{{Collective: c, Library: l}}
	if single && word == own {
		return all, nil
	}
	if single {
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

// Own reports whether it is a library's own choice.
func (a Algorithm) Own() bool { return a.Library != nil && a.Setting.Own() }

// Name is the algorithm's name without the collective.
func (a Algorithm) Name() string {
	switch {
	case a.Textbook != nil:
		return a.Textbook.Name
	case a.Own():
		return own
	}
	return a.Setting.String()
}

// String is such as bcast:binomial of textbooks, bcast:6 binomial of a library.
func (a Algorithm) String() string { return a.Collective.Name + ":" + a.Name() }

// Lacks says why it has no schedule for p ranks on a number of nodes; "" if it has one.
func (a Algorithm) Lacks(p, nodes int) string {
	like, _, _ := a.Like()
	switch {
	case a.Own() && a.Library.unsure && nodes > 1:
		return "is not known for several nodes"
	case a.Own():
		return ""
	case like == nil:
		return "is no algorithm of " + a.Library.Version
	case !like.Among.Has(p):
		return "needs " + like.Among.String()
	}
	return ""
}

// Like is the textbook algorithm that it is an implementation of, nil for a library's own choice, and whether it has a
// degree and chunks.
func (a Algorithm) Like() (like *collective.Algorithm, branched, chunked bool) {
	if a.Textbook != nil {
		return a.Textbook, a.Textbook.Branched, a.Textbook.Chunked
	}
	if o, there := a.Library.offer(a.Collective, a.Setting); there {
		return o.textbook(o.algorithm), o.fans != nil, o.segmented
	}
	return nil, false, false
}

// with is the setting with a degree as fan-out and a chunk as segment size, if the library has these
// parameters; 0 leaves them.
func (a Algorithm) with(degree, chunk int) Setting {
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

// Schedule is its schedule for a call, and the algorithm taken if the name does not say it: a library's
// decision, its setting with the call's degree and chunk, or the algorithm to which a textbook
// decision such as bcast:mpich leads. It fails if the algorithm does not support the call, and for an
// unknown own choice.
func (a Algorithm) Schedule(call collective.Call) (s *collective.Schedule, taken string, err error) {
	if a.Textbook != nil {
		if s, err = a.Textbook.Schedule(call); err == nil && s.Algorithm != a.Textbook {
			taken = s.Algorithm.Name
		}
		return s, taken, err
	}
	setting := a.with(call.Degree, call.Chunk)
	if a.Own() {
		setting, _ = a.Library.own(a.Library, a.Collective, call.P, call.M)
	}
	if setting != a.Setting {
		taken = setting.String()
	}
	s, err = a.Library.Schedule(a.Collective, setting, call)
	return s, taken, err
}
