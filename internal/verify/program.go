package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/provenance"
)

// A Program is messages of ranks, each once, under mappings that differ in which CPU each
// rank is on.
type Program struct {
	Name     string
	Ranks    int
	Messages []collective.Envelope
	Mappings []ProgramMapping
}

// A ProgramMapping is one, with what was predicted of it.
type ProgramMapping struct {
	Name         string
	CPUs         []int // of each rank
	PredictedNs  []float64
	Extrapolated []bool // both as the Caches of the request
}

// A ProgramRow is a mapping with its time.
type ProgramRow struct {
	Mapping    string       `json:"mapping"`
	CPUs       []int        `json:"cpus"`
	OffCache   bool         `json:"off_cache"`
	Measured   fit.Estimate `json:"measured_ns"`
	Prediction Prediction   `json:"predicted"`
}

// A ProgramResult is what came of a program.
type ProgramResult struct {
	Program    string                `json:"program"`
	Ranks      int                   `json:"ranks"`
	Messages   int                   `json:"messages"`
	Bytes      int                   `json:"bytes"`
	Provenance provenance.Provenance `json:"provenance"`
	Parameters string                `json:"parameters"`
	Launches   int                   `json:"launches"`
	Rows       []ProgramRow          `json:"rows"`
	Warnings   []string              `json:"warnings"`
}

// mappedPrefix begins the names of cases that are a program under a mapping.
const mappedPrefix = "mapped-"

// programCases adds the program under each mapping.
func (e *Experiment) programCases() error {
	if e.Params == nil {
		return errors.New("a program is predicted from what was measured before: give parameters")
	}
	e.NoSweep, e.P = true, []int{e.Program.Ranks}
	e.schedules.Messages, e.schedules.CPUs = e.Program.Messages, make(map[string][]int)
	for _, m := range e.Program.Mappings {
		name := mappedPrefix + m.Name
		e.schedules.CPUs[name] = m.CPUs
		for _, off := range e.Caches {
			c, err := e.schedules.programCase(name, e.Program.Ranks, off)
			if err != nil {
				return err
			}
			e.Cases = append(e.Cases, c)
		}
	}
	return nil
}

// ProgramResult puts beside what was measured what was predicted.
func (e *Experiment) ProgramResult() *ProgramResult {
	r := &ProgramResult{Program: e.Program.Name, Ranks: e.Program.Ranks, Messages: len(e.Program.Messages), Provenance: e.here,
		Parameters: e.Source, Launches: len(e.File.Launches), Rows: []ProgramRow{}, Warnings: e.Warnings}
	for _, m := range e.Program.Messages {
		r.Bytes += m.Bytes
	}
	for _, c := range e.Cases {
		name := strings.TrimPrefix(c.Name, mappedPrefix)
		m := e.Program.Mappings[slices.IndexFunc(e.Program.Mappings, func(m ProgramMapping) bool { return m.Name == name })]
		time := e.of(c)
		if time.N == 0 {
			continue
		}
		cache := slices.Index(e.Caches, c.OffCache)
		p := Prediction{Model: Full, Ns: m.PredictedNs[cache], Extrapolated: m.Extrapolated[cache]}
		r.Rows = append(r.Rows, ProgramRow{Mapping: name, CPUs: m.CPUs, OffCache: c.OffCache, Measured: time, Prediction: p.beside(time.Center)})
	}
	return r
}

// programCase is a program's.
func (r schedules) programCase(name string, ranks int, off bool) (Case, error) {
	if r.CPUs[name] == nil {
		return Case{}, fmt.Errorf("there is no mapping %q", name)
	}
	s, err := collective.Rounds(ranks, r.Messages)
	return Case{name, off, s}, err
}
