// Package survey says what can be measured of a machine. Each survey is a value that the engine
// drives: which cells there are, and how one sample of one is taken. When, how often and in
// which process is up to the engine, how it is drawn up to the reader.
package survey

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Survey is something that can be measured.
type Survey struct {
	Name string // in flags and files: pairs
	Doc  string // one line for users
	// Decode reads what a Request was written as.
	Decode func(data json.RawMessage) (Request, error)
	// Plan is what a sweep measures that is asked for the survey too; nil where it
	// cannot be.
	Plan func(m *numa.Machine, p params.Plan) (Request, error)
	// Time is what a survey adds to a sweep's time; nil: DefaultTime.
	Time func(m *numa.Machine) time.Duration
	// Command measures the survey alone; nil where a command has a file of its own.
	Command *Command
	// Answer is what a file's cells say, in a sentence with numbers and their intervals; "" where they
	// say nothing. Nil: there is none ever.
	Answer func(f *params.File) string
	// Tables returns the tables of a file's cells, none without cells; nil if report makes
	// them.
	Tables func(f *params.File) []view.Table
	// Matrices are its cells between every two of some things, by size; an error says
	// that the file has none. Nil where there are none ever.
	Matrices func(f *params.File) ([]view.Matrix, error)
	// Doubts are what cells say against some of them; nil: nothing.
	Doubts func([]params.Cell) []error
	// Drawing is how cells are drawn as lines; nil where they are not.
	Drawing *view.Drawing
}

// DefaultTime is what a sweep takes longer for a survey that does not say.
const DefaultTime = 15 * time.Second

// A Request is what of a survey is to be measured. It becomes JSON on the way to a
// launch: whatever depends on the state of the machine, such as free memory, was
// settled before.
type Request interface {
	// Cells are all that the request asks for. Warnings say what was left out.
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

// Found is the answer, "" without one.
func (s *Survey) Found(f *params.File) string {
	if s.Answer == nil {
		return ""
	}
	return s.Answer(f)
}

// Say adds what the survey has of a file to a document, nothing where that has none of it.
func (s *Survey) Say(d *document.Document, f *params.File) {
	if s.Matrices != nil {
		all, _ := s.Matrices(f)
		d.TablesAbove(view.MatrixTables(all, "taulop plot "+s.Name)...)
	}
	if s.Tables != nil {
		d.TablesAbove(s.Tables(f)...)
	}
}

var registered []*Survey

// Register makes a survey known. It is called once for each, when the program
// begins.
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
	for _, s := range registered {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("there is no survey %q", name)
}

// Drawn are the surveys whose cells are drawn as lines, in the order of files.
func Drawn() []*Survey {
	drawn := slices.DeleteFunc(All(), func(s *Survey) bool { return s.Drawing == nil })
	slices.SortFunc(drawn, func(a, b *Survey) int { return a.Drawing.Kind.Compare(b.Drawing.Kind) })
	return drawn
}

// Planned are the names of the surveys that a sweep can include.
func Planned() (names []string) {
	for _, s := range All() {
		if s.Plan != nil {
			names = append(names, s.Name)
		}
	}
	return names
}

// ParseWith reads a list of surveys for a sweep; an empty one is none.
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

// TimeOf is what a sweep takes longer for these surveys.
func TimeOf(names []string, m *numa.Machine) (all time.Duration) {
	for _, name := range names {
		s, err := Lookup(name)
		switch {
		case err != nil: // of another version
		case s.Time == nil:
			all += DefaultTime
		default:
			all += s.Time(m)
		}
	}
	return all
}

// Add has an experiment measure a request, after what it has already.
func Add(x *engine.Experiment, s *Survey, r Request, m *numa.Machine) (warnings []error, err error) {
	cells, warnings, err := r.Cells(m)
	if err != nil {
		return warnings, err
	}
	tier := 0
	for _, c := range x.Cells {
		tier = max(tier, c.Tier+1)
	}
	for _, c := range cells {
		c.Survey, c.Tier = s.Name, c.Tier+tier
		x.Cells = append(x.Cells, c)
	}
	if d, ok := r.(interface {
		Doubtful(*numa.Machine) func([]params.Cell) []params.Key
	}); ok { // of cells that are visited once
		x.Doubtful = d.Doubtful(m)
	}
	if x.Requests == nil {
		x.Requests = make(map[string]any)
	}
	x.Requests[s.Name] = r
	return warnings, nil
}

// Serve carries out a launch of this program, see engine.Serve.
func Serve() (status int) {
	var bench *engine.Bench
	return engine.Serve(func(name string, request json.RawMessage, c engine.Conditions) (engine.Sampler, error) {
		s, err := Lookup(name)
		if err != nil {
			return nil, err
		}
		r, err := s.Decode(request)
		if err != nil {
			return nil, err
		}
		if bench == nil {
			m, err := numa.Discover("/")
			if err != nil {
				return nil, err
			}
			bench = engine.NewBench(m)
			bench.Conditions = c
		}
		return r.Open(bench)
	})
}
