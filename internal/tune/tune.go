// Package tune chooses algorithms for an MPI library from the parameters of a machine, and
// writes them as the files that the library reads.
//
// Its opinion: a library's own choice stays wherever nothing says for certain that another
// one is better. What a rules file says of one number of ranks holds for that number alone,
// and for the sizes of messages that somebody looked at.
package tune

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/spelling"
	"github.com/taulop/taulop/internal/view"
)

// A Library is an MPI library, as far as it can be told which algorithms to take.
type Library struct {
	Name  string // such as "openmpi4"
	Title string // such as "Open MPI 4.1"
	// Messages is what package mpi calls it as it comes, with its way of messages.
	Messages string

	offers []offer
	own    func(l *Library, c *collective.Collective, p, m int) (Setting, bool)
	write  func(w io.Writer, r *Rules) error
	base   *Tree // of MPICH, what it chooses by itself
	// element is the size of elements of reductions in bytes; 0: 8.
	element int
}

// libraries are those that rules are written for.
var libraries = []*Library{openMPI4, openMPI5, openMPI6, mpich4}

// Version is the library of a version of Open MPI or of MPICH, and whether it is known what it
// chooses by itself.
func Version(mpich bool, major, minor int) (l *Library, known bool) {
	switch {
	case mpich:
		return mpich4, false
	case major >= 6:
		return openMPI6, true
	case major == 5:
		return openMPI5, true
	case major == 4 && minor > 0:
		return openMPI4, true
	case major == 4:
		return openMPI40, true
	}
	return openMPI3, major > 1 || minor >= 8
}

// Other is a library of which no algorithms are known.
func Other(title string) *Library {
	return &Library{Title: title, own: func(*Library, *collective.Collective, int, int) (Setting, bool) { return Setting{}, false }}
}

// Lookup finds a library by its name. It fails for one that is not known, and names the
// nearest.
func Lookup(name string) (*Library, error) {
	var names []string
	for _, l := range libraries {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return nil, fmt.Errorf("there are no rules files for %q; %s", name, spelling.Suggest(name, names))
}

// Names are the libraries' names.
func Names() (names []string) {
	for _, l := range libraries {
		names = append(names, l.Name)
	}
	return names
}

// NeedsBase tells whether rules are spliced into a file of the library's own, see OnBase.
func (l *Library) NeedsBase() bool { return l.Name == mpich4.Name }

// OnBase is the library that chooses by itself as its file says.
func (l *Library) OnBase(base *Tree) *Library {
	with := *l
	with.base = base
	return &with
}

// WithElements is the library where reductions are of elements of so many bytes, of which it
// counts how many there are.
func (l *Library) WithElements(bytes int) *Library {
	with := *l
	with.element = bytes
	return &with
}

// Collectives are those that it can be told an algorithm of, in the order of their names.
func (l *Library) Collectives() (all []*collective.Collective) {
	for _, c := range collective.Collectives() {
		if slices.ContainsFunc(l.offers, func(o offer) bool { return o.collective == c.Name }) {
			all = append(all, c)
		}
	}
	return all
}

// Hazard says why a library's rules for a collective can break programs; "" where they
// cannot.
func (l *Library) Hazard(c *collective.Collective) string {
	if !l.NeedsBase() && (c.Name == "gather" || c.Name == "scatter") {
		return "Open MPI looks rules up by the count that each rank sends, which MPI lets differ between the root and the others: a program in which it does waits for ever"
	}
	return ""
}

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

func (s Setting) String() string {
	text := s.Name
	if s.ID > 0 {
		text = fmt.Sprintf("%d %s", s.ID, s.Name)
	}
	if s.Own() {
		return "its own choice"
	}
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
	halved     bool   // its segments are those of half a message
	blocking   bool   // it sends by MPI_Send, see collective.Schedule
	toSelf     bool   // ranks send their own block to themselves, see collective.Schedule
	degree     int    // that the library fixes, 0 where it does not
	whole      string // the algorithm where messages are whole, if that is another one
	single     string // the algorithm of a fan-out of 0 or 1, if that is another one
	otherwise  string // what the library takes for ranks that the algorithm does not exist for; "": nobody knows
	few        string // what it takes for fewer elements than least, if that is another one
	least      func(p int) int
	// parts are two collectives that it carries out one after the other, each as it would
	// choose by itself.
	parts [2]string
}

// segments are the segment sizes to try, in bytes.
var segments = []int{8 << 10, 32 << 10, 128 << 10, 512 << 10}

// Settings are all that the library can be told for messages of m bytes among p ranks, an
// algorithm's whole messages first.
func (l *Library) Settings(c *collective.Collective, p, m int) (all []Setting) {
	for _, o := range l.offers {
		if o.collective != c.Name || !o.of(o.algorithm).Among.Has(p) {
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

// Schedule is what the library does when it is told so. It fails for a setting that it does
// not have, or not for so many ranks.
func (l *Library) Schedule(c *collective.Collective, s Setting, p, m int) (*collective.Schedule, error) {
	i := slices.IndexFunc(l.offers, func(o offer) bool { return o.collective == c.Name && o.id == s.ID && o.name == s.Name })
	if i < 0 {
		return nil, fmt.Errorf("%s has no %s of %s", l.Title, s, c.Name)
	}
	o := l.offers[i]
	call := collective.Call{P: p, M: m, Degree: cmp.Or(o.degree, s.Fan), Chunk: max(1, m)}
	name := o.algorithm
	switch {
	case s.Segment > 0 && s.Segment < m:
		call.Chunk = s.Segment
	case o.whole != "":
		name = o.whole
	}
	if o.few != "" && (max(1, m/l.elementOf(c)) < o.least(p) || o.halved && s.Segment > m/2) {
		name = o.few
	}
	if o.single != "" && s.Fan < 2 {
		name, call.Degree = o.single, 0
	}
	a := o.of(name)
	if !a.Among.Has(p) && o.otherwise != "" {
		a = o.of(o.otherwise)
	}
	laid, err := a.Schedule(call)
	if err != nil {
		return nil, err
	}
	laid.Blocking, laid.ToSelf = o.blocking && name == o.algorithm, o.toSelf
	return l.inParts(o, laid), nil
}

// inParts is an algorithm in its parts; as it is laid out where it has none, or nobody knows
// what they are.
func (l *Library) inParts(o offer, laid *collective.Schedule) *collective.Schedule {
	var parts []*collective.Schedule
	p, m := laid.Call.P, laid.Call.M
	for _, name := range o.parts {
		c := collective.Named(name)
		if c == nil {
			return laid
		}
		own, known := l.Own(c, p, m)
		if !known {
			return laid
		}
		part, err := l.Schedule(c, own, p, m)
		if err != nil {
			return laid
		}
		parts = append(parts, part)
		m = part.Size(0, collective.Recv) // what the root has by then
	}
	return collective.Join(laid.Algorithm, laid.Call, parts...)
}

// elementOf is the size of elements that is supposed of a collective, in bytes: only where they
// are reduced it matters to any number of them that programs send.
func (l *Library) elementOf(c *collective.Collective) int {
	if c.Reduces {
		return cmp.Or(l.element, 8)
	}
	return 1
}

// of is an algorithm of ours. Tests see that it is there.
func (o offer) of(algorithm string) *collective.Algorithm {
	a, err := collective.Lookup(o.collective + ":" + algorithm)
	if err != nil {
		panic(err)
	}
	return a
}

// Own is what the library chooses by itself; it is not known where Own is false.
func (l *Library) Own(c *collective.Collective, p, m int) (s Setting, known bool) {
	return l.own(l, c, p, m)
}

// OwnSchedule is what the library does where it is left the choice, and the algorithm's name;
// nil where that is not known. Of MPICH without a tree it is what the tree says that MPICH
// comes with.
func (l *Library) OwnSchedule(c *collective.Collective, p, m int) (*collective.Schedule, string) {
	if l.NeedsBase() && l.base == nil {
		a := mpichOwn(c, p, m)
		if a == nil {
			return nil, ""
		}
		s, err := a.Schedule(collective.Call{P: p, M: m})
		if err != nil {
			return nil, ""
		}
		return s, a.String()
	}
	setting, known := l.Own(c, p, m)
	if !known {
		return nil, ""
	}
	s, err := l.Schedule(c, setting, p, m)
	if err != nil {
		return nil, ""
	}
	return s, s.Algorithm.String()
}

// Forced is the setting of an algorithm that the user names, by its number or name, and says
// no more of: names may have capitals, other letters between words, and no word basic or tree. It
// fails for one that the library does not have, and names the nearest.
func (l *Library) Forced(c *collective.Collective, algorithm string) (Setting, error) {
	s, err := l.byName(c.Name, algorithm, 0, 0)
	if err != nil {
		var names, like []string
		for _, o := range l.offers {
			if o.collective == c.Name {
				if names = append(names, o.name); bare(o.name) == bare(algorithm) {
					like = append(like, o.name)
				}
			}
		}
		switch {
		case len(names) == 0:
			return s, fmt.Errorf("taulop knows no numbers and names of %s for algorithms of %s", l.Title, c)
		case len(like) != 1:
			return s, fmt.Errorf("%w; %s", err, spelling.Suggest(algorithm, names))
		}
		if s, err = l.byName(c.Name, like[0], 0, 0); err != nil {
			return s, err
		}
	}
	if s.Name == "chain" { // coll_tuned_*_algorithm_chain_fanout
		s.Fan = 4
	}
	return s, nil
}

// bare is an algorithm's name without what people leave out of it.
func bare(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("_- .", r) })
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "basic" || w == "tree" }), "")
}

// byName is the setting of an algorithm's number or name.
func (l *Library) byName(collective, name string, fan, segment int) (Setting, error) {
	for _, o := range l.offers {
		if o.collective == collective && (o.name == name || o.id > 0 && fmt.Sprint(o.id) == name) {
			return Setting{o.id, o.name, fan, segment}, nil
		}
	}
	if name == "0" || name == "ignore" {
		return Setting{}, nil
	}
	return Setting{}, fmt.Errorf("%s has no algorithm %.40q of %s", l.Title, name, collective)
}

// named is the setting of an id as the library names it.
func (l *Library) named(collective string, id, fan, segment int) (Setting, error) {
	if id == 0 {
		return Setting{}, nil
	}
	for _, o := range l.offers {
		if o.collective == collective && o.id == id {
			return Setting{id, o.name, fan, segment}, nil
		}
	}
	return Setting{}, fmt.Errorf("%s has no algorithm %d of %s", l.Title, id, collective)
}

// Rules are what a library shall take.
type Rules struct {
	Library *Library
	Tables  []Table // by collective, then P rising
}

// A Table is what it shall take for one number of ranks.
type Table struct {
	Collective *collective.Collective
	P          int
	Spans      []Span // from the least m that was looked at to the most, without gaps
	OneNode    bool   // its ranks are on one node
}

// A Span is a run of message sizes with one choice.
type Span struct {
	From, To int // m in bytes, both within
	Verdict
}

// Choice is the setting that the rules mean: the library's own where they say nothing.
func (r *Rules) Choice(c *collective.Collective, p, m int) Setting {
	if c.Empty() {
		m = 0
	}
	for _, t := range r.Tables {
		if t.Collective != c || t.P != p {
			continue
		}
		for _, s := range t.Spans {
			if s.From <= m && m <= s.To {
				return s.Setting
			}
		}
	}
	return Setting{}
}

// Told counts the spans that are not left to the library.
func (r *Rules) Told() (n int) {
	for _, t := range r.Tables {
		for _, s := range t.Spans {
			if !s.Setting.Own() {
				n++
			}
		}
	}
	return n
}

// Write writes the file that the library reads.
func (r *Rules) Write(w io.Writer) error { return r.Library.write(w, r) }

// Use says in lines how the library is made to use a file of the rules.
func (r *Rules) Use(file string) string {
	if r.Library.NeedsBase() {
		return mpichUse(r, file)
	}
	return "mpirun --mca coll_tuned_use_dynamic_rules 1 \\\n  --mca coll_tuned_dynamic_rules_filename " + file + " ...\n"
}

// collectives are those that rules say something of, in the order of their tables.
func (r *Rules) collectives() (all []*collective.Collective) {
	for _, t := range r.Tables {
		told := slices.ContainsFunc(t.Spans, func(s Span) bool { return !s.Setting.Own() })
		if told && !slices.Contains(all, t.Collective) {
			all = append(all, t.Collective)
		}
	}
	return all
}

// of are the tables of a collective.
func (r *Rules) of(c *collective.Collective) (tables []Table) {
	for _, t := range r.Tables {
		if t.Collective == c {
			tables = append(tables, t)
		}
	}
	return tables
}

// A step is where a choice begins, up to the next step.
type step struct {
	from    int
	setting Setting
}

// steps are a table's from 0 bytes on, neighbours that are alike merged; sizes count as
// those of the library, which are scale times m.
func (t *Table) steps(scale int) []step {
	all := []step{{}}
	add := func(from int, s Setting) {
		switch last := &all[len(all)-1]; {
		case last.setting == s:
		case last.from == from:
			last.setting = s
			if n := len(all); n > 1 && all[n-2].setting == s {
				all = all[:n-1]
			}
		default:
			all = append(all, step{from, s})
		}
	}
	for _, s := range t.Spans {
		add(s.From*scale, s.Setting)
		if !t.Collective.Empty() {
			add((s.To+1)*scale, Setting{})
		}
	}
	return all
}

// ranksSteps is what holds from so many ranks on.
type ranksSteps struct {
	p     int
	steps []step
}

// bySize are the tables of a collective from 0 ranks on: below the first, above each that the
// next does not follow at once, and above the last the choice is the library's. Sizes count
// factor times m.
func bySize(tables []Table, factor func(p int) int) (sizes []ranksSteps) {
	add := func(p int, steps []step) {
		if n := len(sizes); n == 0 || !slices.Equal(sizes[n-1].steps, steps) {
			sizes = append(sizes, ranksSteps{p, steps})
		}
	}
	add(0, []step{{}})
	for i, t := range tables {
		add(t.P, t.steps(factor(t.P)))
		if i+1 == len(tables) || tables[i+1].P > t.P+1 {
			add(t.P+1, []step{{}})
		}
	}
	return sizes
}
