package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/params"
)

// tables is import of tables with named columns.
func (req *importRequest) tables(errOut io.Writer, files []string) (*params.File, error) {
	tables, timed, err := req.readTables(files)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(tables, timed)
	if err := tidy.OneMachine(all); err != nil && req.name == "" {
		return nil, usagef("%v: give tables of one machine, or its name with -name", err)
	}
	f, err := tidy.File(tables, req.cores)
	if err != nil {
		return nil, usagef("%s: %v", printable.List(files), err)
	}
	if len(timed) > 0 {
		choice := published.Choice{Collectives: req.from}
		alone := f
		var note string
		if f, note, err = published.WithNetwork(f, tables, timed, req.cores, choice); err != nil {
			return nil, usagef("%s: %v", printable.List(files), err)
		}
		if note != "" {
			tell(errOut, "%s", note)
		}
		table, err := published.Estimate(f, timed, choice)
		if err != nil && (f == alone || req.from != nil) {
			return nil, usageError(err.Error())
		}
		if err == nil {
			table.WriteText(errOut)
		}
	}
	as := imported(cmp.Or(req.name, published.Machine(all)))
	f.Provenance.Time, f.Provenance.Hostname, f.Provenance.Go, f.Provenance.Taulop, f.Provenance.Command = as.Time, as.Hostname, as.Go, as.Taulop, as.Command
	if path, err := filepath.Abs(files[0]); err == nil && as.Hostname == "" {
		f.Provenance.Hostname = filepath.Base(filepath.Dir(path))
	}
	return f, nil
}

// readTables reads tables of messages, and of collectives beside them.
func (req *importRequest) readTables(files []string) (tables, timed []*tidy.Table, err error) {
	for _, file := range files {
		t, err := tidy.ReadFileOf(file, req.name)
		switch {
		case errors.Is(err, tidy.ErrMachines):
			return nil, nil, usagef("%v, or name it with -name", err)
		case err != nil:
			return nil, nil, usagef("%v", err)
		case len(t.Collectives) > 0:
			timed = append(timed, t)
		default:
			tables = append(tables, t)
		}
	}
	switch {
	case len(tables) == 0:
		return nil, nil, usagef("%s: tables of collectives alone do not say what a message takes: give one of messages too", printable.List(files))
	case !slices.ContainsFunc(tables, func(t *tidy.Table) bool { return len(t.Messages) > 0 }):
		return nil, nil, usagef("%s: one sender to many, and streams, do not say what a message alone takes: give a table of messages too", printable.List(files))
	case req.from != nil && len(timed) == 0:
		return nil, nil, usageError("-from says which algorithms to estimate from: give a table of collectives too, or leave it out")
	}
	return tables, timed, nil
}

// readCores reads how many cores share levels: same_socket=28,other_socket=56.
func readCores(text string) (map[string]int, error) {
	given := make(map[string]int)
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		level, number, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(number)
		if err != nil || n < 2 || level == "" || given[level] > 0 {
			return nil, fmt.Errorf("%q is no level: give each level's number of cores once, like same_socket=28,other_socket=56", word)
		}
		given[level] = n
	}
	return given, nil
}
