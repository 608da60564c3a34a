package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/params"
)

// isTidy tells whether a file is a table with named columns.
func isTidy(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 1<<16))
	return tidy.Is(head)
}

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
		if f, err = withNetwork(errOut, f, tables, timed, req.cores, choice); err != nil {
			return nil, usagef("%s: %v", printable.List(files), err)
		}
		if err := estimateFrom(errOut, f, timed, choice); err != nil && (f == alone || req.from != nil) {
			return nil, err
		}
	}
	as := imported(cmp.Or(req.name, namedMachine(all)))
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

// namedMachine is what tables call their machine, without what follows the name; "" where
// none does.
func namedMachine(tables []*tidy.Table) string {
	for _, t := range tables {
		name, _, _ := strings.Cut(strings.NewReplacer("(", ",", "[", ",", "{", ",", ";", ",").Replace(t.Machine), ",")
		if name = strings.TrimSpace(name); name != "" {
			return printable.Name(name)
		}
	}
	return ""
}

// withNetwork is a file with messages between nodes, if it has none, from timed collectives of
// two ranks.
func withNetwork(errOut io.Writer, f *params.File, tables, timed []*tidy.Table, given map[string]int, choice published.Choice) (*params.File, error) {
	if slices.ContainsFunc(f.LevelTimes(), func(l params.LevelTimes) bool { return len(l.Groups) == 0 && l.Message != nil }) {
		return f, nil
	}
	for _, t := range timed {
		if between := published.BetweenNodes(t, f, choice); len(between) > 0 {
			with, err := tidy.File(append(slices.Clone(tables), &tidy.Table{Name: t.Name, Messages: between}), given)
			if err != nil {
				return nil, err
			}
			const what = "messages between nodes are what collectives of two ranks on two nodes took, the mean over both, in %s"
			with.Warn(fmt.Errorf(what, printable.Name(t.Name)))
			tell(errOut, what, t.Name)
			return with, nil
		}
	}
	return f, nil
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
