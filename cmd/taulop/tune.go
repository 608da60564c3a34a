package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/tune"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mpi"
)

const tuneHelp = `Tune writes the file that tells an MPI library which algorithms to take on the
machine of a parameter file.

  taulop tune -params FILE -for LIBRARY -P LIST [flags] -o RULES [COLLECTIVE ...]
  taulop tune -eval TABLE -params FILE [flags] [COLLECTIVE ...]

A rule is written where the cheapest algorithm, with its fan-out and segment size,
costs less than the library's own choice by more than -margin, and by more than the
parameters are uncertain by. Of what taulop sweep measured, messages go as the library
sends them: -with cma measures single copies, and -as names another way. Everywhere else,
for other P and m too, the library's own choice stays. Without a name all collectives are tuned that the library has safe rules
for; those of Open MPI for gather and scatter are not.

Libraries: openmpi4, openmpi5 (dynamic rules), openmpi6 (rules in JSON), mpich4 (a
selection tree in JSON, for which -base names the library's own).

With -eval nothing is written: it says what such choices would have cost, against what
others measured of each algorithm; taulop tune -eval TABLE -h says more.

Examples:
  taulop tune -params host.json -for openmpi4 -P 2-64 -o rules.conf
  taulop tune -params host.json -for openmpi5 -as openmpi5-none -P 2:64 bcast
  taulop tune -params host.json -for openmpi4 -P 8 -explain bcast
  taulop tune -params host.json -for mpich4 -base generic.json -P 8 -o t.json

Flags:
`

// tuneRequest is what taulop tune is asked for.
type tuneRequest struct {
	costRequest
	flagSet     *flag.FlagSet
	library     *tune.Library
	collectives []*collective.Collective
	margin      float64 // in percent
	to          output
	explain     bool
	tables      bool // -tsv or -csv
	separator   rune // of tables
	asJSON      bool
}

func tuneCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	if asks(args, "eval") {
		return evaluateCommand(ctx, out, errOut, args)
	}
	var req tuneRequest
	if err := req.parse(out, args); err != nil {
		return err
	}
	if err := req.predictable(); err != nil {
		return err
	}
	for _, c := range req.collectives {
		if hazard := req.library.Hazard(c); hazard != "" {
			req.warnings = append(req.warnings, fmt.Errorf("rules for %s: %s", c, hazard))
		}
	}
	warn(req.aside(errOut), req.warnings)
	chooser := &tune.Chooser{Library: req.library, Predictor: req.Predictor, Ensemble: req.Ensemble, Margin: req.margin / 100}
	show, done := countProgress(req.progress(errOut), "table")
	chooser.Progress = show
	rules, err := chooser.Rules(ctx, req.collectives, req.P, req.M)
	done()
	if err != nil {
		return refused(err)
	}
	return req.show(out, errOut, rules)
}

// parse reads the command line.
func (req *tuneRequest) parse(out io.Writer, args []string) error {
	req.flagSet = req.costRequest.flags("taulop tune", "1:4M")
	flags := req.flagSet
	library := flags.String("for", "", "`library` to write rules for: "+strings.Join(tune.Names(), ", "))
	base := flags.String("base", "", "the `file` that MPICH chooses by, its maint/tuning/coll/mpir/generic.json, into which rules are spliced")
	flags.Float64Var(&req.margin, "margin", 20, "the least gain in `percent` that is worth a rule")
	flags.BoolVar(&req.explain, "explain", false, "say why each rule is there, instead of the rules where there is no -o")
	asCSV := flags.Bool("csv", false, "as -tsv, comma-separated")
	asTSV := flags.Bool("tsv", false, "as -explain, a line for each run of sizes: collective, P, from_bytes, to_bytes, id, algorithm, fan, segment_bytes")
	flags.BoolVar(&req.asJSON, "json", false, "as -explain, in one JSON document")
	flags.BoolVar(&req.noProgress, "no-progress", false, "no progress; warnings are printed")
	flags.Lookup("quiet").Usage = "no progress and no warnings"
	req.to.add(flags, "write rules to a new `file` (default standard output)")
	names, err := parseWords(flags, out, args, tuneHelp)
	if err != nil {
		return err
	}
	if *library == "" {
		return usagef("-for is missing: name the library to write rules for, %s", strings.Join(tune.Names(), ", "))
	}
	if req.library, err = tune.Lookup(*library); err != nil {
		return usagef("-for: %v", err)
	}
	if as := req.choice.As; as != nil && strings.HasPrefix(as.Name, "mpich") != strings.HasPrefix(req.library.Name, "mpich") {
		return usagef("-for %s writes rules for another library than -as %s, whose messages it would take: leave -as out, or name a way of the same library", req.library.Name, as.Name)
	}
	req.separator = map[bool]rune{true: ',', false: '\t'}[*asCSV]
	if req.tables = *asTSV || *asCSV; *asTSV && *asCSV || req.tables && req.asJSON {
		return usagef("-csv, -tsv and -json cannot be used together: choose one")
	}
	if !(req.margin >= 0 && req.margin < 100) {
		return usagef("-margin is %v: give a percentage from 0 to 100", req.margin)
	}
	if err := req.to.check(); err != nil {
		return err
	}
	if req.library, err = onBase(req.library, *base); err != nil {
		return err
	}
	req.collectives, err = tuned(req.library, names)
	return err
}

// predictable makes the predictor, and refuses what it has no measured times for.
func (req *tuneRequest) predictable() error {
	var err error
	if req.messages, err = mpi.Named(req.library.Messages); err != nil {
		return err
	}
	for _, c := range req.collectives {
		req.Algorithms = append(req.Algorithms, c.Algorithms()...)
	}
	if err := req.complete(req.flagSet); err != nil {
		return err
	}
	for _, given := range []string{"degree", "chunk", "root", "stride"} {
		if req.given[given] {
			return usagef("-%s is not for tune: it tries several fan-outs and segment sizes, of contiguous messages from rank 0", given)
		}
	}
	if err := req.reducible(); err != nil {
		return err
	}
	return req.within()
}

// reducible leaves out what reduces where there is no γ, and fails where nothing is left.
func (req *tuneRequest) reducible() error {
	reduces := func(c *collective.Collective) bool { return c.Reduces }
	if req.Predictor.NoGamma == nil && req.Predictor.Gamma == nil && slices.ContainsFunc(req.collectives, reduces) {
		// Messages by levels have a guess in its place, and no rule follows from an extrapolation.
		req.noGamma = fmt.Errorf("needs γ, the time of a reduction, and %s has none: name a file that has γ with -gamma", req.file)
		if len(req.collectives) > 1 {
			req.warnings = append(req.warnings, fmt.Errorf("what reduces %w", req.noGamma))
		}
	}
	if req.noGamma == nil {
		return nil
	}
	if req.collectives = slices.DeleteFunc(req.collectives, reduces); len(req.collectives) == 0 {
		return usagef("what reduces %v", req.noGamma)
	}
	return nil
}

// show writes rules, and what is to be said of them.
func (req *tuneRequest) show(out, errOut io.Writer, rules *tune.Rules) error {
	doc := report.NewTuning(req.Source, rules, req.margin/100)
	inFile := req.to.path != ""
	for _, of := range []string{req.Source.Nodes, req.Source.States} {
		if of != "" && (!req.explain || req.tables) && !req.asJSON {
			tell(req.aside(errOut), "%s", of)
		}
	}
	if inFile || !req.explain && !req.asJSON && !req.tables {
		if err := req.to.write(out, rules.Write); err != nil {
			return err
		}
	}
	switch {
	case req.asJSON:
		return doc.Document().WriteJSON(verbatim(out))
	case req.tables:
		return put(out, nil, asText(func(w io.Writer) error { return doc.Document().Values(w, req.separator) }))
	case req.explain:
		doc.Document().WriteText(out)
	case inFile:
		doc.WriteSummary(out)
	}
	if inFile && rules.Told() > 0 {
		fmt.Fprint(out, "\n"+rules.Use(printable.Name(req.to.path)))
	}
	return nil
}

// onBase reads the file that rules are spliced into.
func onBase(lib *tune.Library, base string) (*tune.Library, error) {
	switch {
	case !lib.NeedsBase() && base != "":
		return nil, usagef("-base is for MPICH: the rules of %s stand alone", lib.Title)
	case !lib.NeedsBase():
		return lib, nil
	case base == "":
		return nil, usagef("-base is missing: %s replaces all that it chooses by, so name its own maint/tuning/coll/mpir/generic.json", lib.Title)
	}
	tree, err := infile.Read(base, tune.ReadTree)
	if err != nil {
		return nil, usagef("-base: %v", err)
	}
	return lib.OnBase(tree), nil
}

// tuned are the collectives that names say, all of a library without names.
func tuned(lib *tune.Library, names []string) (of []*collective.Collective, err error) {
	all := lib.Collectives()
	if len(names) == 0 {
		return slices.DeleteFunc(all, func(c *collective.Collective) bool { return lib.Hazard(c) != "" }), nil
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(c *collective.Collective) bool { return c.Name == name })
		word, _, algorithm := strings.Cut(name, ":")
		switch {
		case algorithm:
			return nil, usagef("%s is an algorithm, and tune chooses it: name the collective, %s", name, word)
		case i < 0:
			return nil, usagef("%s has no rules for %q; those that it has are %s", lib.Title, name, strings.Join(collective.Names(all), ", "))
		case !slices.Contains(of, all[i]):
			of = append(of, all[i])
		}
	}
	return of, nil
}

// within refuses what was not measured: no rule follows from an extrapolation.
func (req *tuneRequest) within() error {
	if times := req.Predictor.Transfers; times != nil {
		tau := times.Taus[len(times.Taus)-1]
		ranks, on := tau, ""
		if cluster := req.Predictor.Cluster; cluster != nil {
			ranks, on = tau*cluster.Nodes, fmt.Sprintf(" on each of %d nodes", cluster.Nodes)
		}
		if most := req.P[len(req.P)-1]; most > ranks {
			return usagef("-P goes to %d, and %s has times of up to %d transfers at once%s: ask for P up to %d, or measure more", most, req.file, tau, on, ranks)
		}
	}
	largest := req.Predictor.Largest
	if most := req.M[len(req.M)-1]; most > largest && req.given["m"] {
		return usagef("-m goes to %s, and %s has messages of up to %s: ask for these, or measure larger ones", view.Bytes(most), req.file, view.Bytes(largest))
	}
	req.M = slices.DeleteFunc(req.M, func(m int) bool { return m > largest })
	return nil
}
