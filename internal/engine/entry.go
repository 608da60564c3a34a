package engine

import (
	"encoding/json"
	"io"
	"time"

	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// An entry is a line of a journal.
type entry struct {
	Launch *params.Launch `json:"launch,omitempty"` // of the lines after it
	Cell   *params.Key    `json:"cell,omitempty"`
	setups.Sample
	Probe       bool           `json:"probe,omitempty"`
	Visit       int            `json:"visit,omitempty"`  // index in the order
	Begins      int            `json:"begins,omitempty"` // 1 + the index of a visit out of sequence
	Look        bool           `json:"look,omitempty"`   // the sample is a look between two visits
	Loads       []params.Loads `json:"loads,omitempty"`
	Instruction float64        `json:"instruction_ns,omitempty"`
	Warning     string         `json:"warning,omitempty"`
	Error       string         `json:"error,omitempty"`
	Refused     bool           `json:"refused,omitempty"` // the error is a RefusedError
	Done        bool           `json:"done,omitempty"`
	Ran         time.Duration  `json:"ran_ns,omitempty"` // with Done: of all threads, see process.OnCPU
	Waited      time.Duration  `json:"waited_ns,omitempty"`
	Alive       bool           `json:"alive,omitempty"`
}

// sample is the entry's sample, of that launch.
func (e entry) sample(f *params.File, session, launch int) params.Sample {
	s := e.Sample.Sample
	if s.Launch = int32(launch); s.Before > 0 && len(e.CPUs) > 0 {
		s.Watch = f.Watch(session, e.CPUs)
	} else {
		s.Before, s.After, s.Computed = 0, 0, 0
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
