package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// parameterFile is a file of parameters of either format.
type parameterFile struct {
	machine string // its name, or as good as that gets
	file    *params.File
	text    bool   // it is in the published format
	pipe    []byte // what a pipe gave, which cannot be read again
}

// readParameterFile reads what taulop sweep or import wrote, or a table in the
// published text format. An error is one sentence.
func readParameterFile(path string) (*parameterFile, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("%s is not there: look how the file is called, or measure it with taulop sweep -o %[1]s", path)
	} else if err != nil {
		return nil, usageError(err.Error())
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		return nil, usagef("%s is a directory: name the files in it, like %s", path, filepath.Join(path, "*.json"))
	}
	var in io.Reader = f
	var pipe bytes.Buffer
	if err == nil && !info.Mode().IsRegular() {
		in = io.TeeReader(f, &pipe)
	}
	r := bufio.NewReader(in)
	p := &parameterFile{machine: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	switch first, err := firstLetter(r); {
	case err != nil:
		return nil, usagef("%s: %v", path, err)
	case first == 0:
		return nil, usagef("%s is empty: measure again with taulop sweep, or leave it out", path)
	case first == '#', unicode.IsDigit(first):
		table, err := params.ReadText(r, path)
		if err != nil {
			return nil, usageError(err.Error())
		}
		p.file, p.text = params.FromText(table, nil), true
		if full, err := filepath.Abs(path); err == nil && slices.Contains(channels, p.machine) {
			p.machine = filepath.Base(filepath.Dir(full))
		}
	default:
		if p.file, err = params.Read(r, path); err != nil {
			return nil, usageError(err.Error())
		}
		if host := p.file.Provenance.Hostname; host != "" {
			p.machine = host
		}
	}
	p.machine, p.pipe = printable.Name(p.machine), pipe.Bytes()
	return p, nil
}

// channels are what published tables are called, in a directory with the name of
// the machine.
var channels = []string{"SHM", "IB", "TCP"}

// firstLetter looks at the beginning of a file; 0 is an empty one.
func firstLetter(r *bufio.Reader) (rune, error) {
	start, err := r.Peek(256)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	text := strings.TrimLeftFunc(strings.TrimPrefix(string(start), "\ufeff"), unicode.IsSpace)
	for _, letter := range text {
		return letter, nil
	}
	return 0, nil
}

// readMachines reads parameter files of either format and gives each machine a
// name of its own. From compare.Fleet files on, skipped has a sentence for each
// that cannot be read; of fewer, the first such is the error.
func readMachines(paths []string) (machines []compare.Machine, skipped []error, err error) {
	return readMachinesKeeping(paths, nil)
}

// readMachinesKeeping puts what comes through pipes, which cannot be read again, into
// pipes too, by path.
func readMachinesKeeping(paths []string, pipes map[string][]byte) (machines []compare.Machine, skipped []error, err error) {
	if err := noneTwice(paths); err != nil {
		return nil, nil, err
	}
	for _, path := range paths {
		p, err := readParameterFile(path)
		if err == nil && !slices.ContainsFunc(p.file.Cells, func(c params.Cell) bool {
			// What surveys measured has a variant, and a chart of its own.
			return c.Kind == params.TransferCell && c.Setup != params.Isolated || c.Variant != ""
		}) {
			err = usagef("%s has no transfers, L(m,τ): complete it with taulop sweep -resume", path)
		}
		if err != nil && len(paths) < compare.Fleet {
			return nil, nil, err
		}
		if err != nil {
			skipped = append(skipped, err)
			continue
		}
		machines = append(machines, compare.Machine{Name: p.machine, Path: path, File: p.file})
		if p.pipe != nil && pipes != nil {
			pipes[path] = p.pipe
		}
	}
	if len(machines) == 0 && len(skipped) > 0 {
		return nil, nil, usagef("none of %s can be read, the first because: %v", printable.Count(len(skipped), "file"), skipped[0])
	}
	distinguish(machines)
	return machines, skipped, nil
}

// skippedFiles is how a command ends that did its work without some files; nil
// if there are none.
func skippedFiles(skipped []error, of int) error {
	if len(skipped) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s skipped", len(skipped), printable.Count(of, "file"))
}

// noneTwice refuses a file that is named twice: its machine would be compared
// with itself.
func noneTwice(paths []string) error {
	type known struct {
		path string
		info os.FileInfo
	}
	var files []known
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			continue // who reads it says so
		}
		for _, f := range files {
			if os.SameFile(f.info, info) {
				if f.path == path {
					return usagef("%s is there twice: name each file once", path)
				}
				return usagef("%s and %s are the same file: name it once", f.path, path)
			}
		}
		files = append(files, known{path, info})
	}
	return nil
}

// distinguish adds to names that several machines have what their files are
// called, or where they lie.
func distinguish(machines []compare.Machine) {
	clashing := func() map[string]bool {
		seen, twice := make(map[string]bool), make(map[string]bool)
		for _, m := range machines {
			twice[m.Name], seen[m.Name] = seen[m.Name], true
		}
		return twice
	}
	hosts := make([]string, len(machines))
	for i, m := range machines {
		hosts[i] = m.Name
	}
	for _, more := range []func(path string) string{filepath.Base, func(path string) string { return path }} {
		twice := clashing()
		for i := range machines {
			if m := &machines[i]; twice[m.Name] {
				m.Name = fmt.Sprintf("%s (%s)", hosts[i], more(m.Path))
			}
		}
	}
}
