package processmap

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/mapping/heuristic"
)

// maxDocument is the largest document, in bytes.
const maxDocument = 1 << 28

// ErrNoDocument: the file is no document of a result.
var ErrNoDocument = errors.New("write it anew")

// Read reads the document of a result. Errors begin with name.
func Read(in io.Reader, name string) (*Result, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxDocument {
		return nil, fmt.Errorf("%s is longer than %d MB: this is no mapping of processes", name, maxDocument>>20)
	}
	r := &Result{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s is no document of taulop map: it is no JSON: %w", name, ErrNoDocument)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%s is no document of taulop map: %w: %w", name, err, ErrNoDocument)
	}
	return r, nil
}

// check rejects results that Run cannot return.
func (r *Result) check() error {
	places := r.Nodes * len(r.Cores)
	switch {
	case r.Processes == 0 && r.Sent == nil:
		return errors.New("it has no processes")
	case r.Processes < 1 || r.Processes > comm.MaxRanks || len(r.Sent) != r.Processes:
		return fmt.Errorf("%d processes, and %d send something", r.Processes, len(r.Sent))
	case r.Nodes < 1 || r.Nodes > heuristic.MaxPlaces || len(r.Cores) < 1 || len(r.Cores) > heuristic.MaxPlaces || places > heuristic.MaxPlaces:
		return fmt.Errorf("%d nodes of %d cores", r.Nodes, len(r.Cores))
	case r.Mapping(r.Best) == nil:
		return fmt.Errorf("there is no mapping %.40q, which is the best", r.Best)
	}
	for _, row := range r.Sent {
		for _, e := range row {
			if e.To < 0 || e.To >= r.Processes || e.Bytes < 0 {
				return fmt.Errorf("%d bytes to process %d", e.Bytes, e.To)
			}
		}
	}
	for _, m := range r.Mappings {
		taken := make(map[int]bool)
		if len(m.Places) != r.Processes {
			return fmt.Errorf("%.40s maps %d of %d processes", m.Method, len(m.Places), r.Processes)
		}
		for _, place := range m.Places {
			if place < 0 || place >= places || taken[place] {
				return fmt.Errorf("%.40s has a process on place %d", m.Method, place)
			}
			taken[place] = true
		}
	}
	if len(r.Groups) > 64 {
		return errors.New("groups of cores at more than 64 levels")
	}
	for _, groups := range r.Groups {
		taken := make(map[int]bool)
		for _, g := range groups {
			for _, core := range g {
				if core < 0 || core >= len(r.Cores) || taken[core] {
					return fmt.Errorf("a group has core %d", core)
				}
				taken[core] = true
			}
		}
		if len(taken) != len(r.Cores) {
			return fmt.Errorf("groups have %d of %d cores", len(taken), len(r.Cores))
		}
	}
	return nil
}
