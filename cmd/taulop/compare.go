package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/setups"
)

const compareHelp = `Compare puts machines side by side: what concurrent transfers cost on each, how
many of them each really carries, and whether the difference is real.

  taulop compare [flags] A.json B.json [C.json …]

Files are what taulop sweep writes, or pairs, copy, access, pack and disk, or tables
in the published text format. Ratios are to the first. Where the host moved the CPUs of
a machine, like states are compared: those in which a flag between two CPUs takes alike.
From ten files on it is a fleet: medians and spread of all, and outliers.

Examples:
  taulop compare old.json new.json
  taulop compare -m 8K,1M -cache off a.json b.json
  taulop compare -as ring host.json metropolis/SHM.txt
  taulop compare -csv -o fleet.csv nodes/*.json

Flags:
`

// compareRequest is what the user asked to compare.
type compareRequest struct {
	choice compare.Choice
	as     string
	destination
	saying
	paths []string
}

// compareCommand is the subcommand.
func compareCommand(_ context.Context, out, errOut io.Writer, args []string) error {
	req, err := parseCompare(out, args)
	if err != nil {
		return err
	}
	said := req.aside(errOut)
	machines, skipped, err := compare.ReadAll(req.paths)
	if err != nil {
		return usagef("%v", err)
	}
	for _, s := range skipped {
		tell(said, "skipped: %v", s)
	}
	warn(said, takePublished(machines, req.as))
	compared, err := req.compare(machines)
	if err != nil {
		return usagef("%v", err)
	}
	if err := req.put(out, compared); err != nil {
		return err
	}
	warn(said, compared.Warned())
	if compared.Untested() {
		return noAnswer("nothing could be tested: complete the files (taulop sweep -resume FILE), or add sessions to them (taulop sweep -add FILE)")
	}
	return skippedFiles(skipped, len(req.paths))
}

// compare puts a few machines beside the first, and many beside their median.
func (req *compareRequest) compare(machines []compare.Machine) (report.Compared, error) {
	if len(req.paths) < compare.Fleet {
		c, err := compare.New(machines, req.choice)
		return (*report.SideBySide)(c), err
	}
	o, err := compare.NewOverview(machines, req.choice)
	return (*report.Overview)(o), err
}

// skippedFiles is how a command ends that did its work without some files; nil
// if there are none.
func skippedFiles(skipped []error, of int) error {
	if len(skipped) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s skipped", len(skipped), printable.Count(of, "file"))
}

func parseCompare(out io.Writer, args []string) (*compareRequest, error) {
	req := &compareRequest{}
	flags := flag.NewFlagSet("taulop compare", flag.ContinueOnError)
	choice, test := &req.choice, fit.Test{}
	argument.Var(flags, &choice.Sizes, "m", "", "message sizes, a `list` like 64,8K,1M with doubling ranges: 1K:1M (default the segment's size S)", argument.Rising(argument.Messages(0)))
	argument.Var(flags, &choice.Setups, "setup", "", "`list` of setups: ring, bcast, ping (default all)", argument.Names)
	argument.Var(flags, &choice.Placements, "placement", "", "`list` of placements: "+policyNames()+" (default all)", argument.Names)
	argument.Var(flags, &choice.Caches, "cache", "", "`list` of where user buffers are: in, off (default both)", argument.Caches)
	flags.StringVar(&req.as, "as", "", "take published tables for this `setup`, placement local")
	addTest(flags, &test)
	flags.BoolVar(&req.quiet, "quiet", false, "no warnings")
	req.destination.add(flags)
	if err := parse(flags, out, args, compareHelp); err != nil {
		return nil, err
	}
	req.paths = flags.Args()
	if len(req.paths) < 2 {
		return nil, usagef("got %s, a comparison takes two or more: taulop compare A.json B.json", printable.Count(len(req.paths), "file"))
	}
	choice.Test = &test
	return req, cmp.Or(checkTest(test), checkAs(req.as), req.destination.check())
}

// addTest adds the flags that say when machines differ.
func addTest(flags *flag.FlagSet, test *fit.Test) {
	flags.Float64Var(&test.Drift, "drift", compare.DefaultDrift, "what sessions of one machine are taken to differ by where a file has one: a `share`, one standard deviation")
	flags.Float64Var(&test.Least, "least", compare.DefaultLeast, "the least difference between machines that counts: a `share`")
}

func checkTest(test fit.Test) error {
	if !(test.Drift >= 0 && test.Drift <= 1) || !(test.Least >= 0 && test.Least <= 1) {
		return usagef("-drift is %v and -least %v: give shares from 0 to 1, like 0.1", test.Drift, test.Least)
	}
	return nil
}

func checkAs(setup string) error {
	if setup == "" {
		return nil
	}
	if _, err := setups.Lookup(setup); err != nil {
		return usagef("-as: %v", err)
	}
	return nil
}

// takePublished takes published tables for transfers of a setup, if one is asked
// for, and says of which machines.
func takePublished(machines []compare.Machine, as string) (warnings []string) {
	var taken []string
	for i := range machines {
		if m := &machines[i]; as != "" && m.Published() {
			m.Take(as, numa.Local)
			taken = append(taken, m.Name)
		}
	}
	switch len(taken) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("%s is taken for %s, placement local, which its file does not say", taken[0], as)}
	}
	return []string{fmt.Sprintf("%s are taken for %s, placement local, which their files do not say", printable.List(taken), as)}
}
