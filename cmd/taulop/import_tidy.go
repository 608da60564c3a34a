package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
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

// importTidy is import of tables with named columns.
func importTidy(out, errOut io.Writer, files []string, output output, host, cores, from string) error {
	if len(files) == 0 {
		return usageError("no table: name one, like taulop import -format tidy p2p.tsv")
	}
	if err := output.check(); err != nil {
		return err
	}
	given, err := parseCores(cores)
	if err != nil {
		return err
	}
	var tables, timed []*tidy.Table
	for _, file := range files {
		t, err := tidy.ReadFileOf(file, host)
		switch {
		case errors.Is(err, tidy.ErrMachines):
			return usagef("%v, or name it with -name", err)
		case err != nil:
			return usagef("%v", err)
		case len(t.Collectives) > 0:
			timed = append(timed, t)
		default:
			tables = append(tables, t)
		}
	}
	switch {
	case len(tables) == 0:
		return usagef("%s: tables of collectives alone do not say what a message takes: give one of messages too", printable.List(files))
	case !slices.ContainsFunc(tables, func(t *tidy.Table) bool { return len(t.Messages) > 0 }):
		return usagef("%s: one sender to many, and streams, do not say what a message alone takes: give a table of messages too", printable.List(files))
	case from != "" && len(timed) == 0:
		return usageError("-from says which algorithms to estimate from: give a table of collectives too, or leave it out")
	}
	if err := tidy.OneMachine(slices.Concat(tables, timed)); err != nil && host == "" {
		return usagef("%v: give tables of one machine, or its name with -name", err)
	}
	f, err := tidy.File(tables, given)
	if err != nil {
		return usagef("%s: %v", printable.List(files), err)
	}
	if len(timed) > 0 {
		choice := published.Choice{Collectives: strings.FieldsFunc(from, func(r rune) bool { return r == ',' || r == ' ' })}
		alone := f
		if f, err = withNetwork(errOut, f, tables, timed, given, choice); err != nil {
			return usagef("%s: %v", printable.List(files), err)
		}
		if err := estimateFrom(errOut, f, timed, choice); err != nil && (f == alone || from != "") {
			return err
		}
	}
	f.Provenance.Time, f.Provenance.Hostname = time.Now().UTC().Format(time.RFC3339), cmp.Or(host, namedMachine(slices.Concat(tables, timed)))
	f.Provenance.Go, f.Provenance.Taulop, f.Provenance.Command = runtime.Version(), provenance.Version(), os.Args
	if path, err := filepath.Abs(files[0]); err == nil && f.Provenance.Hostname == "" {
		f.Provenance.Hostname = filepath.Base(filepath.Dir(path))
	}
	return putFile(out, errOut, &output, f)
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

// parseCores reads how many cores share levels: same_socket=28,other_socket=56.
func parseCores(text string) (map[string]int, error) {
	given := make(map[string]int)
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		level, number, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(number)
		if err != nil || n < 2 || level == "" || given[level] > 0 {
			return nil, usagef("-cores has %q: give each level's number of cores once, like same_socket=28,other_socket=56", word)
		}
		given[level] = n
	}
	return given, nil
}
