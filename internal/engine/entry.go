package engine

import (
	"encoding/json"
	"io"

	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// An entry is a line of a journal.
type entry struct {
	Launch      *params.Launch  `json:"launch,omitempty"` // of the lines after it
	Cell        *params.Key     `json:"cell,omitempty"`
	NS          float64         `json:"ns,omitempty"`
	Spread      float64         `json:"spread,omitempty"`
	At          float64         `json:"at_s,omitempty"`
	Workers     *setups.Workers `json:"workers,omitempty"`
	Begun       setups.Begun    `json:"begun,omitzero"`
	MHz         float64         `json:"mhz,omitempty"`
	Probe       bool            `json:"probe,omitempty"`
	CPUs        []int           `json:"cpus,omitempty"` // of the workers
	Before      float64         `json:"before_ns,omitempty"`
	After       float64         `json:"after_ns,omitempty"`
	Visit       int             `json:"visit,omitempty"`   // index of the order's
	Begins      int             `json:"begins,omitempty"`  // 1 + the index of a visit that is not the next one
	Look        float64         `json:"look_ns,omitempty"` // between two visits
	Loads       []params.Loads  `json:"loads,omitempty"`
	Instruction float64         `json:"instruction_ns,omitempty"`
	Warning     string          `json:"warning,omitempty"`
	Error       string          `json:"error,omitempty"`
	Refused     bool            `json:"refused,omitempty"` // the error is about what was asked for
	Done        bool            `json:"done,omitempty"`
	Alive       bool            `json:"alive,omitempty"`
}

// sample is the launch's sample that an entry holds.
func (e entry) sample(f *params.File, session, launch int) params.Sample {
	s := params.Sample{NS: e.NS, Launch: int32(launch), At: float32(e.At), Spread: float32(e.Spread)}
	if w := e.Workers; w != nil {
		s.Workers = params.Workers{Fastest: float32(w.Fastest), Typical: float32(w.Typical), Last: int32(w.Last)}
	}
	if e.Before > 0 && len(e.CPUs) > 0 {
		s.Watch, s.Before, s.After = f.Watch(session, e.CPUs), float32(e.Before), float32(e.After)
	}
	return s
}

func (e entry) write(to io.Writer) error {
	line, err := json.Marshal(e)
	if err == nil {
		_, err = to.Write(append(line, '\n'))
	}
	return err
}
