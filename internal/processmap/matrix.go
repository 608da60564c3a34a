package processmap

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/mapping/comm"
)

// ReadMatrix reads a matrix from a file, or from several of Open MPI's monitoring component.
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
	name := infile.Name(paths[0])
	if len(paths) > 1 {
		name = fmt.Sprintf("%s … %s", filepath.Base(paths[0]), filepath.Base(paths[len(paths)-1]))
	}
	return comm.Read(io.MultiReader(files...), name)
}
