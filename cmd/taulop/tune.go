package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/plan"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/tune"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mpi"
)

// A tuneRequest holds the flags of tune.
type tuneRequest struct {
	costRequest
	library     *mpi.Library
	collectives []*collective.Collective
	margin      float64 // a share
	base        string
	to          output
	explain     bool
	formats
	timed bool   // rules follow from measured times of the library
	ends  string // a note where parameters end before the default sizes; "" elsewhere
}

// tuneFlags is the subcommand.
func tuneFlags(flags *argument.Set) action {
	var req tuneRequest
	req.add(flags)
	return func(ctx context.Context, out io.Writer, errOut *messages, words []string) error {
		if err := req.prepare(words, nil); err != nil {
			return err
		}
		for _, c := range req.collectives {
			if hazard := req.library.Hazard(c); hazard != "" {
				req.warnings = append(req.warnings, fmt.Errorf("rules for %s: %s", c, hazard))
			}
		}
		warn(errOut, req.warnings)
		chooser := &tune.Chooser{Library: req.library, Predictor: req.Predictor, Ensemble: req.Ensemble, Margin: req.margin}
		show, done := countProgress(errOut, "table")
		chooser.Progress = show
		choices, err := chooser.Choices(ctx, req.collectives, req.P, req.M)
		done()
		if err != nil {
			return refused(err)
		}
		if req.ends != "" {
			tell(errOut, "%s", req.ends)
		}
		for _, note := range []string{req.Source.Nodes, req.Source.States} { // rules and their values have none
			if note != "" && (!req.explain && req.format() == nil || req.valued()) {
				tell(errOut, "%s", note)
			}
		}
		return req.put(out, report.Tuned(req.Source, choices, req.margin), choices.Rules())
	}
}

func (req *tuneRequest) add(flags *argument.Set) {
	req.addTarget(flags)
	req.addRules(flags)
	argument.Var(flags, &req.margin, "margin", "20%", "the least gain, a `share`, for a rule", argument.Share(0.99))
}

// addRules adds the flags that say where rules go.
func (req *tuneRequest) addRules(flags *argument.Set) {
	req.to.add(flags, "write rules to a new `file` (default standard output)")
	flags.BoolVar(&req.explain, "explain", false, "print the reason for each rule, instead of the rules if there is no -o")
	req.formats.add(flags)
}

// addTarget adds the flags for the library and the predictions.
func (req *tuneRequest) addTarget(flags *argument.Set) {
	req.costRequest.add(flags, "1:4M")
	argument.Var(flags, &req.library, "for", "", "`library` to write rules for: "+strings.Join(mpi.TunableNames(), ", "), mpi.Tunable, mpi.TunableNames()...)
	flags.Required("for", "name the library to write rules for, "+strings.Join(mpi.TunableNames(), ", "), "timed")
	flags.Check(req.named)
	flags.StringVar(&req.base, "base", "", "MPICH's own selection `file`, maint/tuning/coll/mpir/generic.json, into which rules are spliced")
	flags.Rules(argument.Rule{Flags: "degree chunk root stride", Why: "is not for tune, which tries several fan-outs and segment sizes, of contiguous messages from rank 0"})
}

// named rejects an -as of another library.
func (req *tuneRequest) named() error {
	if as := req.choice.As; as != nil && req.library != nil && strings.HasPrefix(as.Version, "MPICH") != req.library.NeedsBase() {
		return usagef("-for %s writes rules for another library than -as %s, whose transports it would use: leave -as out, or name the same library", req.library.Name, as.Name)
	}
	return nil
}

// prepare completes the request and makes the predictor, and rejects requests beyond its measured times. If
// planned is not nil, it supplies what the flags leave out.
func (req *tuneRequest) prepare(words []string, planned *plan.Manifest) (err error) {
	if planned != nil {
		if err := req.takeFrom(planned); err != nil {
			return err
		}
	}
	if req.library, err = onBase(req.library, req.base); err != nil {
		return err
	}
	if planned == nil {
		if req.collectives, err = tuned(req.library, words); err != nil {
			return err
		}
	}
	req.messages = req.library
	req.Algorithms = lists.Map(req.collectives, func(c *collective.Collective) mpi.Algorithm {
		return mpi.Algorithm{Collective: c, Library: req.library}
	})
	if err := req.complete(); err != nil {
		return err
	}
	if req.noGamma != nil {
		req.collectives = slices.DeleteFunc(req.collectives, func(c *collective.Collective) bool { return c.Reduces })
	}
	return req.within()
}

// put writes rules, and the reasons for them in the chosen format.
func (req *tuneRequest) put(out io.Writer, found *document.Document, rules []mpi.Rule) (err error) {
	inFile, explained := req.to.path != "", req.explain || req.format() != nil
	beside := false
	if inFile || !explained {
		if beside, err = req.write(out, rules); err != nil {
			return err
		}
	}
	if explained {
		to := destination{formats: req.formats}
		if err := to.put(out, found); err != nil || req.format() != nil {
			return err
		}
	} else if inFile {
		fmt.Fprintln(out, found.Answer())
	}
	if inFile && len(rules) > 0 {
		path, _ := filepath.Abs(req.to.path) // processes start in other directories
		fmt.Fprint(out, "\n"+req.library.Use(printable.Name(path), beside))
	}
	return nil
}

// write writes rules. Timed rules in a file may need a second file beside it.
func (req *tuneRequest) write(out io.Writer, rules []mpi.Rule) (beside bool, err error) {
	var text bytes.Buffer
	var other *outfile.File
	if req.to.path != "" && req.timed {
		if beside, err = req.library.WriteBeside(&text, rules); err != nil {
			return false, err
		}
	}
	if beside {
		path := mpi.Beside(req.to.path)
		if other, err = fresh(req.flags, path, path, req.to.force); err != nil {
			return false, err
		}
	}
	if err := req.to.write(out, func(w io.Writer) error { return req.library.Write(w, rules) }); err != nil || !beside {
		return false, err
	}
	return true, other.Write(exactly(text.Bytes()))
}

// onBase adds to a library the file that rules are spliced into.
func onBase(lib *mpi.Library, base string) (*mpi.Library, error) {
	switch {
	case !lib.NeedsBase() && base != "":
		return nil, usagef("-base is for MPICH: the rules of %s stand alone", lib.Version)
	case !lib.NeedsBase():
		return lib, nil
	case base == "":
		return nil, usagef("-base is missing: %s replaces its whole selection file, so name its own maint/tuning/coll/mpir/generic.json", lib.Version)
	}
	tree, err := infile.Read(base, mpi.ReadTree)
	if err != nil {
		return nil, usagef("-base: %v", err)
	}
	return lib.OnBase(tree), nil
}

// tuned are the named collectives; without names all of a library without a hazard.
func tuned(lib *mpi.Library, names []string) (chosen []*collective.Collective, err error) {
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
			return nil, usagef("%s has no rules for %q; those that it has are %s", lib.Version, name, strings.Join(collective.Names(all), ", "))
		case !slices.Contains(chosen, all[i]):
			chosen = append(chosen, all[i])
		}
	}
	return chosen, nil
}

// within rejects requests beyond measured times: an extrapolation is no basis for a rule.
func (req *tuneRequest) within() error {
	if times := req.Predictor.Transfers; times != nil {
		tau := times.Taus[len(times.Taus)-1]
		ranks, on := tau, ""
		if cluster := req.Predictor.Cluster; cluster != nil {
			ranks, on = tau*cluster.Nodes, fmt.Sprintf(" on each of %d nodes", cluster.Nodes)
		}
		most := req.P[len(req.P)-1]
		if planned := req.loaded.File.Plan.Taus; most > ranks && len(planned) > 0 && slices.Max(planned) > tau && !req.loaded.Text {
			return usagef("-P goes to %d, and %s lacks times of more than %d concurrent transfers of these messages, which it plans: measure them, taulop sweep -resume %[2]s, or ask for P up to %d", most, req.file, tau, ranks)
		}
		if most > ranks {
			return usagef("-P goes to %d, and %s has times of up to %s at once%s: ask for P up to %d, or measure more", most, req.file, printable.Count(tau, "transfer"), on, ranks)
		}
	}
	largest := req.Predictor.Largest
	if most := req.M[len(req.M)-1]; most > largest && req.flags.Given("m") {
		return usagef("-m goes to %s, and %s has messages of up to %s: ask for these, or measure larger ones", view.Bytes(most), req.file, view.Bytes(largest))
	} else if most > largest && !req.timed {
		req.ends = fmt.Sprintf("sizes end at %s and not at %s, for %s has no larger messages on these transports: measure them for rules beyond", view.Bytes(largest), view.Bytes(most), req.file)
	}
	req.M = slices.DeleteFunc(req.M, func(m int) bool { return m > largest })
	return nil
}
