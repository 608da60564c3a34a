package processmap

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/mapping/comm"
)

// ReadMatrix reads a file, or those of Open MPI's monitoring component together.
func ReadMatrix(paths []string) (*comm.Matrix, error) {
	var files []io.Reader
	for _, path := range paths {
		f, err := infile.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if files = append(files, f); len(paths) == 1 {
			break
		}
		first := make([]byte, 256)
		n, err := io.ReadFull(f, first)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s cannot be read: %w", path, err)
		}
		if !comm.IsMonitoring(first[:n]) {
			return nil, fmt.Errorf("%s is no file of Open MPI's monitoring component, which has one for each process: of other matrices give one", path)
		}
		files[len(files)-1] = io.MultiReader(strings.NewReader(string(first[:n])), f, strings.NewReader("\n"))
	}
	name := paths[0]
	if len(paths) > 1 {
		name = fmt.Sprintf("%s … %s", filepath.Base(paths[0]), filepath.Base(paths[len(paths)-1]))
	}
	return comm.Read(io.MultiReader(files...), name)
}

// Once is a matrix of one message of each two processes, of their mean size.
func Once(of *comm.Matrix) (*comm.Matrix, error) {
	m, err := comm.New(of.Ranks())
	if err != nil {
		return nil, err
	}
	m.Name = of.Name
	for from, e := range of.All() {
		if err := m.Add(from, e.To, (e.Bytes+e.Messages-1)/e.Messages, 1); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Two are block and the cheapest that is another mapping, or where there is none the
// cheapest; or the two that there are.
func (r *Result) Two() []string {
	if len(r.Mappings) == 2 {
		return []string{r.Mappings[0].Method, r.Mappings[1].Method}
	}
	first := r.Mappings[0]
	second := -1
	for i, m := range r.Mappings[1:] {
		if !slices.Equal(m.Places, first.Places) && (second < 0 || cmp.Compare(*m.Seconds, *r.Mappings[second].Seconds) < 0) {
			second = i + 1
		}
	}
	if second < 0 {
		second = len(r.Mappings) - 1
	}
	return []string{first.Method, r.Mappings[second].Method}
}
