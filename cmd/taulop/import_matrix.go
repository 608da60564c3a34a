package main

import (
	"io"
	"os"

	"github.com/taulop/taulop/internal/coretocore"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/survey/pairs"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// isMatrix tells whether a file is a matrix of core-to-core-latency.
func isMatrix(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 1<<17))
	return coretocore.Looks(string(head))
}

// matrix is import of a matrix of core-to-core-latency. It says which groups of CPUs it shows.
func (req *importRequest) matrix(errOut io.Writer, files []string) (*params.File, error) {
	if n := len(files); n > 1 {
		return nil, usagef("got %d arguments, want 1: a matrix is of one machine", n)
	}
	m, err := infile.Read(files[0], coretocore.Read)
	if err != nil {
		return nil, usageError(err.Error())
	}
	var levels numa.Levels
	if req.params != "" {
		swept, err := readParameters("params", req.params)
		if err != nil {
			return nil, err
		}
		levels = swept.Provenance.Levels
	}
	f, err := m.File(req.cpus, levels)
	if err != nil {
		return nil, usagef("%s: %v: name the CPUs of its rows with -cpus", files[0], err)
	}
	known := f.Provenance
	f.Provenance = imported(req.name, "core-to-core-latency does not print what machine it ran on, nor where the lines lay: look for that where the matrix comes from")
	f.Provenance.Levels, f.Provenance.Online, f.Provenance.Allowed = known.Levels, known.Online, known.Allowed
	p, err := f.Pairs()
	if err != nil {
		return nil, err
	}
	for _, g := range pairs.FindGroups(p, f.Provenance.Levels) {
		tell(errOut, "%s", g)
	}
	return f, nil
}
