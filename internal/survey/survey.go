// Package survey has the measurements of a machine. Each survey is a value that the engine drives: it
// lists cells and takes one sample of a cell. The engine decides when, how often and in which
// process, the reader how results are drawn.
package survey

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Survey is one kind of measurement.
type Survey struct {
	Name string // in flags and files: pairs
	Doc  string // one line for users
	// Decode reads a Request from JSON.
	Decode func(data json.RawMessage) (Request, error)
	// Plan is the request of a sweep that includes the survey; nil: no sweep can.
	Plan func(m *numa.Machine, p params.Plan) (Request, error)
	// Time is the time that the survey adds to a sweep; nil: DefaultTime.
	Time func(m *numa.Machine) time.Duration
	// Command measures the survey alone; nil: it has its own command file.
	Command *Command
	// Answer sums a file's cells up in a sentence with numbers and intervals; "" without cells. Nil:
	// never.
	Answer func(f *params.File) string
	// Tables returns the tables of a file's cells, none without cells; nil: package report makes them.
	Tables func(f *params.File) []view.Table
	// Matrices are the cells of pairs, by size; an error means that the file has none. Nil: never.
	Matrices func(f *params.File) ([]view.Matrix, error)
	// Doubts are contradictions among cells; nil: none.
	Doubts func([]params.Cell) []error
	// Drawing draws cells as lines; nil: it does not.
	Drawing *view.Drawing
}

// DefaultTime is the time that a survey without Time adds to a sweep.
const DefaultTime = 15 * time.Second

// A Request says what a survey is to measure. It travels to a launch as JSON: sizes that depend on
// the machine's state, such as free memory, are decided before.
type Request interface {
	// Cells are all cells of the request. Warnings name omissions.
	Cells(m *numa.Machine) (cells []engine.Cell, warnings []error, err error)
	// Open prepares for taking samples, in a launch.
	Open(b *engine.Bench) (engine.Sampler, error)
}

// Decoder reads requests of a type.
func Decoder[R Request](data json.RawMessage) (Request, error) {
	var r R
	err := json.Unmarshal(data, &r)
	return r, err
}

// Found is the answer; "": none.
func (s *Survey) Found(f *params.File) string {
	if s.Answer == nil {
		return ""
	}
	return s.Answer(f)
}

// Say adds the survey's matrices and tables of a file to a document that has the answer: notes do not repeat it.
func (s *Survey) Say(d *document.Document, f *params.File) {
	if s.Matrices != nil {
		all, _ := s.Matrices(f)
		d.TablesAbove(view.MatrixTables(all, "taulop plot "+s.Name)...)
	}
	if s.Tables != nil {
		tables, answer := s.Tables(f), strings.ToLower(s.Found(f))
		for i := range tables {
			tables[i].Notes = lists.Filter(tables[i].Notes, func(note string) bool { return !strings.Contains(answer, strings.ToLower(note)) })
		}
		d.TablesAbove(tables...)
	}
}

var registered []*Survey

// Register adds a survey to All, when the program begins.
func Register(s *Survey) *Survey {
	registered = append(registered, s)
	return s
}

// All are the surveys, by name.
func All() []*Survey {
	all := slices.Clone(registered)
	slices.SortFunc(all, func(a, b *Survey) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Lookup finds a survey.
func Lookup(name string) (*Survey, error) {
	i := slices.IndexFunc(registered, func(s *Survey) bool { return s.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no survey %q", name)
	}
	return registered[i], nil
}

// Drawn are the surveys whose cells are drawn as lines, in the order of parameter files.
func Drawn() []*Survey {
	drawn := slices.DeleteFunc(All(), func(s *Survey) bool { return s.Drawing == nil })
	slices.SortFunc(drawn, func(a, b *Survey) int { return a.Drawing.Kind.Compare(b.Drawing.Kind) })
	return drawn
}

// Profiles are a file's profiles, kind by kind, in cache before off cache. Cells of newer versions
// with unknown variants are left out.
func Profiles(f *params.File) []view.Profile {
	profiles := lists.Concat(Drawn(), func(s *Survey) []view.Profile {
		return s.Drawing.Profiles(lists.Filter(f.Cells, func(c params.Cell) bool { return c.Variant != nil && c.Kind == s.Drawing.Kind }))
	})
	slices.SortStableFunc(profiles, func(a, b view.Profile) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Cache, b.Cache), a.Tau-b.Tau)
	})
	return profiles
}

// Planned are the names of surveys that a sweep can include.
func Planned() []string {
	planned := lists.Filter(All(), func(s *Survey) bool { return s.Plan != nil })
	return lists.Map(planned, func(s *Survey) string { return s.Name })
}

// ParseWith reads a list of a sweep's surveys, which may be empty.
func ParseWith(list string) (names []string, err error) {
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "" && list == "":
		case !slices.Contains(Planned(), name):
			return nil, fmt.Errorf("there is no survey %q: choose from %s", name, strings.Join(Planned(), ", "))
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	return names, nil
}

// TimeOf is the time that surveys add to a sweep.
func TimeOf(names []string, m *numa.Machine) (sum time.Duration) {
	for _, name := range names {
		s, err := Lookup(name)
		switch {
		case err != nil: // a survey of another version
		case s.Time == nil:
			sum += DefaultTime
		default:
			sum += s.Time(m)
		}
	}
	return sum
}

// Add appends a request to an experiment.
func Add(x *engine.Experiment, s *Survey, r Request, m *numa.Machine) (warnings []error, err error) {
	cells, warnings, err := r.Cells(m)
	if err != nil {
		return warnings, err
	}
	tier := lists.Most(x.Cells, func(c engine.Cell) int { return c.Tier + 1 })
	for _, c := range cells {
		c.Survey, c.Tier = s.Name, c.Tier+tier
		x.Cells = append(x.Cells, c)
	}
	if d, ok := r.(interface {
		Doubtful(*numa.Machine) func([]params.Cell) []params.Key
	}); ok { // cells that are sampled once
		x.Doubtful = d.Doubtful(m)
	}
	if x.Requests == nil {
		x.Requests = make(map[string]any)
	}
	x.Requests[s.Name] = r
	return warnings, nil
}

// Open is the sampler of a survey's request.
func Open(b *engine.Bench, name string, request json.RawMessage) (engine.Sampler, error) {
	s, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	r, err := s.Decode(request)
	if err != nil {
		return nil, err
	}
	return r.Open(b)
}

// Serve is the launch side of engine.Serve.
func Serve() (status int) {
	var bench *engine.Bench
	return engine.Serve(func(name string, request json.RawMessage, c engine.Conditions) (engine.Sampler, error) {
		if bench == nil {
			m, err := numa.Discover("/")
			if err != nil {
				return nil, err
			}
			bench = engine.NewBench(m)
			bench.Conditions = c
		}
		return Open(bench, name, request)
	})
}
