package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
)

// A compareRequest holds the flags of compare.
type compareRequest struct {
	choice compare.Choice
	as     string
	list   string // file with the names of files
	destination
}

// compareFlags is the subcommand.
func compareFlags(flags *argument.Set) action {
	var req compareRequest
	var test compare.Test
	choice := &req.choice
	argument.Var(flags, &choice.Sizes, "m", "", "message sizes, a `list` like 64,8K,1M with doubling ranges: 1K:1M (default the segment's size S)", argument.Rising(argument.Messages(0)))
	argument.Var(flags, &choice.Setups, "setup", "", "`list` of setups: "+strings.Join(setupNames(), ", ")+" (default all)", argument.Names, setupNames()...)
	argument.Var(flags, &choice.Placements, "placement", "", "`list` of placements: "+policyNames()+" (default all)", argument.Names, policies()...)
	argument.Var(flags, &choice.Caches, "cache", "", "user buffers in cache or off cache, a `list`: in,off (default both)", argument.Caches, "in", "off")
	addAs(flags, &req.as)
	flags.StringVar(&req.list, "files", "", "a `file` with the names of more files, one a line, as find prints them; - is standard input")
	addTest(flags, &test)
	choice.Test = &test
	req.destination.add(flags)
	return func(ctx context.Context, out io.Writer, errOut *messages, paths []string) error {
		if req.list != "" {
			read := func() ([]string, error) { return infile.Read(req.list, infile.Names) }
			if req.list == "-" {
				read = func() ([]string, error) { return infile.Names(os.Stdin, infile.Name(req.list)) }
			}
			listed, err := read()
			if err != nil {
				return usagef("-files: %v", err)
			}
			paths = append(paths, listed...)
		}
		two := operands{least: 2, most: -1, want: "a comparison takes two files or more: taulop compare A.json B.json"}
		if err := two.check("", paths); err != nil {
			return err
		}
		if len(paths) >= compare.Fleet {
			return req.fleet(ctx, out, errOut, paths)
		}
		machines, _, err := compare.ReadAll(paths)
		if err != nil {
			return usagef("%v", unreadable(err, paths...))
		}
		warn(errOut, takePublished(machines, req.as))
		c, err := compare.New(machines, req.choice)
		if err != nil {
			return usagef("%v", err)
		}
		c.Verdict.Notes = append(c.Verdict.Notes, unshown(c.Unshown)...)
		return req.show(out, errOut, report.SideBySide(c), c.Warnings, c.Untested())
	}
}

// unshown is a sentence on sizes that have no table, none without such sizes.
func unshown(sizes []int) []string {
	few := lists.Map(sizes[:min(3, len(sizes))], view.Bytes)
	if len(few) == 0 {
		return nil
	} else if len(few) < len(sizes) {
		few = append(few, "…")
	}
	return []string{fmt.Sprintf("Not shown without -m: %s in common (%s).", printable.Count(len(sizes), "other size"), strings.Join(few, ", "))}
}

// fleet compares many machines with their median.
func (req *compareRequest) fleet(ctx context.Context, out io.Writer, errOut *messages, paths []string) error {
	show, done := countProgress(errOut, "file")
	machines, skipped, err := compare.ReadReduced(ctx, paths, req.as, show)
	if done(); errors.Is(err, context.Canceled) {
		return err
	} else if err != nil {
		return usagef("%v", err)
	}
	missed := skippedFiles(errOut, skipped, len(paths))
	published := lists.Filter(machines, func(m *compare.Reduced) bool { return m.Taken })
	warn(errOut, taken(lists.Map(published, func(m *compare.Reduced) string { return m.Name }), req.as))
	o, err := compare.NewOverview(machines, req.choice)
	if err != nil {
		return usagef("%v", err)
	}
	o.Notes = append(o.Notes, unshown(o.Unshown)...)
	return cmp.Or(req.show(out, errOut, report.Overview(o), o.Warnings, o.Untested()), missed)
}

// show writes the result, and fails if nothing could be tested.
func (req *compareRequest) show(out io.Writer, errOut *messages, found *document.Document, warnings []compare.Warning, untested bool) error {
	if err := req.put(out, found); err != nil {
		return err
	}
	if warn(errOut, warnings); untested {
		return noAnswer("nothing could be tested: complete the files (taulop sweep -resume FILE), or add sessions to them (taulop sweep -add FILE)")
	}
	return nil
}

// skippedFiles prints why files were skipped, and is the error of a command that skipped some; nil if there
// are none.
func skippedFiles(errOut *messages, skipped []error, files int) error {
	for _, err := range skipped {
		tell(errOut, "skipped: %v", err)
	}
	if len(skipped) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s skipped", len(skipped), printable.Count(files, "file"))
}

// percent writes a share as a flag's value.
func percent(share float64) string { return strconv.FormatFloat(100*share, 'g', 6, 64) + "%" }

// addDrift adds -drift, of sessions at different hours.
func addDrift(flags *argument.Set, to **compare.Drift, of, otherwise string) {
	usage := fmt.Sprintf("difference assumed between sessions of one machine%s: a `share`, one standard deviation (default %s%v, or %v where a file does not tell states of the machine apart)",
		of, otherwise, compare.DefaultDrift, compare.MixedDrift)
	argument.Var(flags, to, "drift", "", usage, func(text string) (*compare.Drift, error) {
		share, err := argument.Share(1)(text)
		return compare.Everywhere(share), err
	})
}

// addTest adds the flags of the test whether machines differ.
func addTest(flags *argument.Set, test *compare.Test) {
	addDrift(flags, &test.Drift, ", for files with one session", "")
	argument.Var(flags, &test.Least, "least", percent(compare.DefaultLeast), "the least difference between machines that is reported: a `share`", argument.Share(1))
}

// addAs adds -as for published tables.
func addAs(flags *argument.Set, as *string) {
	argument.Word(flags, as, "as", "", "take published tables for this `setup`, placement local", setupNames())
}

// takePublished takes published tables for transfers of setup as, unless it is "", and returns a
// warning that names the machines.
func takePublished(machines []compare.Machine, as string) (warnings []string) {
	var names []string
	for i := range machines {
		if m := &machines[i]; as != "" && m.Published() {
			m.Take(as, numa.Local)
			names = append(names, m.Name)
		}
	}
	return taken(names, as)
}

// taken is a warning that published tables of machines are taken for setup as.
func taken(names []string, as string) []string {
	switch len(names) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("%s is taken for %s, placement local, which its file does not say", names[0], as)}
	}
	return []string{fmt.Sprintf("%s are taken for %s, placement local, which their files do not say", printable.List(names), as)}
}
