package compare

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/parallel"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// ErrMissing is the advice for a missing file.
var ErrMissing = errors.New("check its name, or measure it")

// Read reads a parameter file, or a table in the published text format. An error is one sentence that
// begins with the path.
func Read(path string) (m Machine, err error) {
	f, err := infile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s is not there: %w", path, ErrMissing)
	} else if err != nil {
		return m, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	called := infile.Name(path)
	if err := infile.Plain(r, called); err != nil {
		return m, err
	}
	m.Name, m.Path = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), path
	switch first := firstLetter(r); {
	case first == '#', unicode.IsDigit(first):
		table, err := params.ReadText(r, called)
		if err != nil {
			return m, err
		}
		m.File, m.Text = params.FromText(table, nil), true
		if full, err := filepath.Abs(path); err == nil && slices.Contains(channels, m.Name) {
			m.Name = filepath.Base(filepath.Dir(full))
		}
	default:
		if m.File, err = params.Read(r, called); err != nil {
			return m, err
		}
		if host := m.File.Provenance.Machine(); host != "" {
			m.Name = host
		}
	}
	m.Name = printable.Name(m.Name)
	return m, nil
}

// channels are names of published tables, in a directory with the name of the machine.
var channels = []string{"SHM", "IB", "TCP"}

// firstLetter is the first letter after spaces, utf8.RuneError in an empty file.
func firstLetter(r *bufio.Reader) rune {
	start, _ := r.Peek(256) // an error comes again when the file is read
	text := strings.TrimLeftFunc(strings.TrimPrefix(string(start), "\ufeff"), unicode.IsSpace)
	letter, _ := utf8.DecodeRuneInString(text)
	return letter
}

// ReadAll reads files of machines and gives them distinct names. From Fleet files on, skipped has an
// error for each unreadable file; with fewer files the first one is returned.
func ReadAll(paths []string) (machines []Machine, skipped []error, err error) {
	name := func(m *Machine) *string { return &m.Name }
	machines, skipped, err = readAll(context.Background(), paths, readComparable, name, nil)
	if len(skipped) > 0 && len(paths) < Fleet {
		return nil, nil, skipped[0]
	}
	return machines, skipped, err
}

// readAll reads files several at a time, and makes the names of what they hold distinct. skipped are the
// errors of unreadable files. progress, if not nil, is called after each file. It ends with ctx.
func readAll[T any](ctx context.Context, paths []string, read func(path string) (T, error), name func(*T) *string, progress func(done, of int)) (all []T, skipped []error, err error) {
	if err := infile.Once(paths); err != nil {
		return nil, nil, err
	}
	one, failed := make([]T, len(paths)), make([]error, len(paths))
	err = parallel.Each(ctx, len(paths), progress, func(_ context.Context, i int) error {
		one[i], failed[i] = read(paths[i])
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var names, from []string
	for i, path := range paths {
		if failed[i] != nil {
			skipped = append(skipped, failed[i])
		} else {
			all, names, from = append(all, one[i]), append(names, *name(&one[i])), append(from, path)
		}
	}
	if len(all) == 0 && len(skipped) > 0 {
		return nil, skipped, fmt.Errorf("none of %s can be read, the first because: %v", printable.Count(len(skipped), "file"), skipped[0])
	}
	for i, distinct := range distinguish(names, from) {
		*name(&all[i]) = distinct
	}
	return all, skipped, nil
}

// readComparable is Read of a file with transfers or surveys, whose cells have variants.
func readComparable(path string) (Machine, error) {
	m, err := Read(path)
	if err == nil && !slices.ContainsFunc(m.File.Cells, func(c params.Cell) bool {
		return c.Kind == params.TransferCell && c.Setup != params.Isolated || c.Variant != nil
	}) {
		err = fmt.Errorf("%s has no transfers, L(m,τ): %w", path, params.ErrUnfinished)
	}
	return m, err
}

// Names are distinct names for machines of these files and hosts.
func Names(paths, hosts []string) (names []string, err error) {
	if err := infile.Once(paths); err != nil {
		return nil, err
	}
	return distinguish(hosts, paths), nil
}

// distinguish adds file names to host names of several machines, with as many folders as tell them apart.
// Files of one host are called by these names alone.
func distinguish(hosts, paths []string) []string {
	one := len(lists.Unique(hosts)) == 1
	names := slices.Clone(hosts)
	for folders := 0; ; folders++ {
		times, again := lists.Counts(names, func(name string) string { return name }), false
		for i, name := range names {
			if times[name] < 2 {
				continue
			}
			parts := strings.Split(filepath.ToSlash(paths[i]), "/")
			if names[i] = strings.Join(parts[max(0, len(parts)-1-folders):], "/"); !one {
				names[i] = fmt.Sprintf("%s (%s)", hosts[i], names[i])
			}
			again = again || names[i] != name
		}
		if !again {
			return names
		}
	}
}
