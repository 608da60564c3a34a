package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/chart"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/spelling"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A plotKind is a kind of chart: of the transfers of parameter files, of what else was
// measured in them, of the matrices of one, or of what taulop verify, predict or map wrote.
type plotKind struct {
	name, about, example string
	ofMachines           func([]compare.Machine, chart.Choice) (*chart.Chart, error)
	drawing              *view.Drawing
	matrices             func(*params.File) ([]view.Matrix, error)
	document             func(*plotRequest) (*chart.Chart, error) // of what the command wrote
	command              string
	costs                bool // of the machine, what models say of one algorithm
}

var plotKinds = []plotKind{
	{name: "l-tau", about: "L(S,τ) against τ, a line for each setup and machine",
		example: "taulop plot l-tau -o l.svg host.json", ofMachines: chart.TransfersOverTau},
	{name: "concurrency", about: "A(τ), how many transfers are carried at once, between both bounds",
		example: "taulop plot concurrency -o a.svg a.json b.json", ofMachines: chart.Concurrency},
	{name: "l-m", about: "L(m,τ) against m, a line for each τ",
		example: "taulop plot l-m -tau 1,2,4 -o l.pdf host.json", ofMachines: chart.TransfersOverSize},
	{name: "copy", about: "c(m,τ) against m, out of own buffers and out of one, or between levels of the memory",
		example: "taulop plot copy -cache off -o c.png host.json", ofMachines: chart.Copies},
	{name: "ratio", about: "L(m,τ) of machines as a ratio to the first, against m",
		example: "taulop plot ratio -o r.svg a.json b.json", ofMachines: chart.Ratios},
	{name: "states", about: "L(m,τ) against m in each state that the machine was in, a panel each", example: "taulop plot states -o s.svg host.json", ofMachines: chart.States},
	{name: "mlognp", about: "what strided messages cost under mlog_nP and its reductions, against the stride",
		example: "taulop plot mlognp -algorithm bcast:binomial -P 8 -o m.svg host.json", ofMachines: chart.StridedCosts, costs: true},
	{name: "predict", about: "what collectives cost, against m: a line for each algorithm, or machine",
		example: "taulop plot predict -algorithm bcast -P 8 -o c.svg predict.json", command: "predict", document: drawn(report.ReadCosts, chart.Costs)},
	{name: "predicted", about: "one collective, predicted and measured, and the relative errors",
		example: "taulop plot predicted -algorithm bcast:binomial -o p.svg verify.json", command: "verify", document: drawn(report.ReadVerification, chart.Predictions)},
	{name: "published", about: "collectives that others measured, predicted over measured time against P",
		example: "taulop plot published -algorithm bcast -o b.svg against.json", command: "verify -against OUTPUT", document: drawn(report.ReadPublished, chart.Published)},
	{name: "accuracy", about: "predicted over measured time of each model, all collectives",
		example: "taulop plot accuracy -o e.svg verify.json", command: "verify", document: drawn(report.ReadVerification, chart.Accuracy)},
	{name: "map", about: "what processes send each other, before and after mapping, and where they are",
		example: "taulop plot map -o map.svg map.json", command: "map", document: drawn(processmap.Read, chart.ProcessMap)},
}

// Those of surveys come after those of transfers.
func init() {
	at := slices.IndexFunc(plotKinds, func(k plotKind) bool { return k.ofMachines == nil })
	for _, s := range survey.Drawn() {
		if d := s.Drawing; d.Name != "" {
			plotKinds = slices.Insert(plotKinds, at, plotKind{name: d.Name, about: d.About, example: d.Example, drawing: d})
			drawnNames = append(drawnNames, d.Name)
			at++
		}
	}
	for _, s := range survey.All() {
		if s.Matrices != nil {
			plotKinds = slices.Insert(plotKinds, at, plotKind{name: s.Name, about: s.Doc + ", a heat map", matrices: s.Matrices,
				example: fmt.Sprintf("taulop plot %[1]s -o %[1]s.svg %[1]s.json", s.Name)})
			at++
		}
	}
}

// drawnNames are the kinds of what surveys measured.
var drawnNames []string

// bandwidthKinds can show how much messages carry instead of how long they take.
var bandwidthKinds = []string{"l-tau", "l-m", "copy", "predict"}

// plotHelp is made of the kinds.
func plotHelp() string {
	var b strings.Builder
	b.WriteString(`Plot draws what parameter files, or what taulop predict, verify and map with -json
wrote, say.

  taulop plot KIND [flags] -o FILE.svg|png|pdf FILES…

Kinds:
`)
	for _, k := range plotKinds {
		fmt.Fprintf(&b, "  %-12s %s\n  %-12s   %s\n", k.name, k.about, "", k.example)
	}
	b.WriteString(`
Parameter files are those of taulop sweep and import, and tables in the published
text format. Bars are 95 % intervals. Where a flag does not say otherwise, charts
show all setups (over m: the ring), the first placement, user data in cache, and
over τ the segment's size; of accesses the largest N, of patterns the largest P.
-variant takes parts of what panels and lines are called, whatever their case and
spaces: float64,read,write are reads and writes of float64.

Flags:
`)
	return b.String()
}

// plotRequest is what the user asked to draw.
type plotRequest struct {
	kind   plotKind
	choice chart.Choice
	output
	format string
	width  float64
	title  string
	titled bool   // not by the chart itself
	as     string // what published tables are taken for
	state  stateChoice
	files  []string
}

func plotCommand(_ context.Context, out, errOut io.Writer, args []string) error {
	req := &plotRequest{}
	if err := req.parse(out, args); err != nil {
		return err
	}
	c, skipped, err := req.chart()
	if err != nil {
		return err
	}
	if req.titled {
		c.Title = req.title
	}
	for _, err := range skipped {
		tell(errOut, "skipped: %v", err)
	}
	if len(c.Omitted) > 0 {
		tell(errOut, "%s has %s as well, which is not drawn: choose with -algorithm, like -algorithm %s", req.files[0], printable.List(c.Omitted), c.Omitted[0])
	}
	figure := func(w io.Writer) error { return c.Write(w, req.format, req.width) }
	if req.path != "" {
		out = offTerminal(out)
	}
	if err := req.write(out, figure); err != nil {
		return err
	}
	return skippedFiles(skipped, len(req.files))
}

func (req *plotRequest) parse(out io.Writer, args []string) error {
	flags := flag.NewFlagSet("taulop plot", flag.ContinueOnError)
	choice := &req.choice
	var levels []string
	req.output.add(flags, "write to a new `file`, whose extension says the format: "+strings.Join(chart.Formats, ", "))
	flags.StringVar(&req.title, "title", "", "`text` above the chart instead of its own, \"\" for none, as journals want it")
	flags.BoolVar(&choice.Bandwidth, "bandwidth", false, "of "+strings.Join(bandwidthKinds, ", ")+": GB/s of all messages under way instead of times; of predict m over the time of the call")
	flags.Float64Var(&req.width, "width", chart.ColumnWidth, "`width` in cm; fonts stay as they are")
	argument.Var(flags, &choice.Setups, "setup", "", "`list` of setups: ring, ping, bcast, sendrecv; of copy: copy, share", argument.Names)
	argument.Var(flags, &choice.Placements, "placement", "", "`list` of placements: "+policyNames()+", cpus", argument.Names)
	argument.Var(flags, &choice.Caches, "cache", "", "`list` of where user data are: in, off", argument.Caches)
	argument.Var(flags, &choice.Sizes, "m", "", "message sizes in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M", argument.Rising(argument.Messages(0)))
	argument.Var(flags, &choice.Taus, "tau", "", "τ, a `list` like 1,2,4 with ranges: 2-8, or doubling 1:16", argument.Taus)
	argument.Var(flags, &levels, "levels", "", "of copy: `list` of where data come from and go to, like L1-L1,L2-memory", argument.Names)
	argument.Var(flags, &choice.Variants, "variant", "", "of "+strings.Join(drawnNames, ", ")+": `list` of parts of names, like float64,read", argument.Names)
	flags.StringVar(&req.as, "as", "", "take published tables for this `setup`, placement local")
	req.state.add(flags, "each by itself; of heat maps means over all by their shares")
	argument.Var(flags, &choice.Algorithms, "algorithm", "", "of files of verify and predict, and mlognp: `list` of algorithms like bcast:binomial, or message", argument.Names)
	flags.IntVar(&req.choice.P, "P", 0, "of files of verify and predict, patterns and mlognp: `ranks` (default the most)")
	flags.IntVar(&req.choice.Nodes, "nodes", 0, "of mlognp: `nodes` like the file's machine, with its first network between them (default 1)")
	words, err := parseWords(flags, out, args, plotHelp())
	if err != nil {
		return err
	}
	req.titled = givenFlags(flags)["title"]
	req.title = printable.Line(req.title)
	if len(words) == 0 {
		return usagef("say which chart: taulop plot %s", plotKinds[0].example[len("taulop plot "):])
	}
	if err := req.choose(words[0]); err != nil {
		if isFile(words[0]) {
			return usagef("%s is a file: say first which chart, like %s", words[0], plotKinds[0].example)
		}
		return err
	}
	if req.files = words[1:]; len(req.files) == 0 {
		return usagef("name the file to draw, like %s", req.kind.example)
	}
	if err := checkAs(req.as); err != nil {
		return err
	}
	if len(levels) > 0 && req.kind.name != "copy" {
		return usagef("-levels chooses copies between levels of the memory: leave it out of %s, or take the chart copy", req.kind.name)
	}
	if len(choice.Variants) > 0 && req.kind.drawing == nil {
		return usagef("-variant chooses what surveys measured: leave it out of %s, or take one of the charts %s", req.kind.name, strings.Join(drawnNames, ", "))
	}
	choice.Variants = append(choice.Variants, levels...)
	if req.choice.Bandwidth && !slices.Contains(bandwidthKinds, req.kind.name) {
		return usagef("-bandwidth is of the charts %s: leave it out of %s", strings.Join(bandwidthKinds, ", "), req.kind.name)
	}
	if req.choice.P < 0 {
		return usagef("-P is %d: give the number of ranks", req.choice.P)
	}
	if n := req.choice.Nodes; n < 0 || n > numa.MostWorkers || n > 0 && !req.kind.costs {
		return usagef("-nodes is %d: give the chart mlognp 1 to %d, and leave it out of others", n, numa.MostWorkers)
	}
	if !(req.width >= chart.MinWidth && req.width <= chart.MaxWidth) {
		return usagef("-width is %g: give %d to %d cm, a column of print has %g", req.width, chart.MinWidth, chart.MaxWidth, chart.ColumnWidth)
	}
	return req.checkOutput()
}

// choose finds the kind.
func (req *plotRequest) choose(word string) error {
	var names []string
	for _, k := range plotKinds {
		if k.name == word {
			req.kind = k
			return nil
		}
		names = append(names, k.name)
	}
	return usagef("there is no chart %q; %s", word, spelling.Suggest(word, names))
}

// checkOutput finds the format, and refuses to draw over what is drawn.
func (req *plotRequest) checkOutput() error {
	if req.path == "" {
		return usagef("-o is missing: say where the figure goes, like %s", req.kind.example)
	}
	req.format = strings.ToLower(strings.TrimPrefix(filepath.Ext(req.path), "."))
	if req.path == "-" {
		req.format = "svg"
	}
	if !slices.Contains(chart.Formats, req.format) {
		return usagef("-o %s has no extension that says a format: take .%s", req.path, strings.Join(chart.Formats, ", ."))
	}
	if to, err := os.Stat(req.path); err == nil {
		for _, file := range req.files {
			if from, err := os.Stat(file); err == nil && os.SameFile(from, to) {
				return usagef("-o %s is a file to draw: choose another name", req.path)
			}
		}
	}
	return req.output.check()
}

// chart reads the files and lays the chart out.
func (req *plotRequest) chart() (c *chart.Chart, skipped []error, err error) {
	if req.kind.document != nil {
		if c, err = req.written(); err != nil {
			return nil, nil, usagef("%v", err)
		}
		return c, nil, nil
	}
	if !req.kind.costs && (len(req.choice.Algorithms) > 0 || req.choice.P > 0 && (req.kind.drawing == nil || !req.kind.drawing.Ranks)) {
		return nil, nil, usagef("-algorithm and -P choose from what taulop verify wrote: leave them out of %s, or take the chart predicted", req.kind.name)
	}
	if req.kind.matrices != nil {
		c, err := req.heatMaps()
		return c, nil, err
	}
	if req.kind.drawing != nil && (len(req.choice.Setups) > 0 || req.as != "") {
		return nil, nil, usagef("-setup and -as choose transfers: leave them out of %s, or choose with -variant", req.kind.name)
	}
	machines, skipped, err := compare.ReadAll(req.files)
	if err != nil {
		return nil, nil, usagef("%v", err)
	}
	if machines, err = req.state.each(machines); err != nil {
		return nil, nil, err
	}
	notes := takePublished(machines, req.as)
	if req.kind.drawing != nil {
		c, err = chart.Profiles(req.kind.drawing, machines, req.choice)
	} else {
		c, err = req.kind.ofMachines(machines, req.choice)
	}
	if err != nil {
		return nil, nil, usagef("%v", err)
	}
	c.Caption = append(c.Caption, notes...)
	return c, skipped, nil
}

func (req *plotRequest) heatMaps() (*chart.Chart, error) {
	if len(req.choice.Setups)+len(req.choice.Placements)+len(req.choice.Taus)+len(req.choice.Caches) > 0 || req.as != "" {
		return nil, usagef("-setup, -placement, -cache, -tau and -as choose from other charts: leave them out of %s, or choose sizes with -m", req.kind.name)
	}
	if len(req.files) > 1 {
		return nil, usagef("%s draws one file, got %d: draw them one by one", req.kind.name, len(req.files))
	}
	f, err := compare.Read(req.files[0])
	if err != nil {
		return nil, usagef("%v", err)
	}
	if err := req.state.one(&f); err != nil {
		return nil, err
	}
	var c *chart.Chart
	all, err := req.kind.matrices(f.File)
	if err == nil {
		c, err = chart.HeatMaps(f.Name, all, req.choice)
	}
	if err != nil {
		return nil, usagef("%s: %v", req.files[0], err)
	}
	if states := f.States(); states != "" && f.File.State() == nil { // else the title says it
		c.Caption = append(c.Caption, states)
	}
	return c, nil
}

// drawn is a chart of the one file.
func drawn[T any](read func(io.Reader, string) (T, error), draw func(T, chart.Choice) (*chart.Chart, error)) func(*plotRequest) (*chart.Chart, error) {
	return func(req *plotRequest) (*chart.Chart, error) {
		d, err := infile.Read(req.files[0], read)
		if err != nil {
			return nil, err
		}
		return draw(d, req.choice)
	}
}

// written is a chart of what taulop verify, predict or map wrote.
func (req *plotRequest) written() (*chart.Chart, error) {
	command, ch := req.kind.command, req.choice
	ofFiles := len(ch.Setups)+len(ch.Placements)+len(ch.Taus) > 0 || req.as != "" || req.state != (stateChoice{})
	switch {
	case command == "map" && (ofFiles || len(ch.Caches)+len(ch.Sizes)+len(ch.Algorithms)+ch.P > 0):
		return nil, errors.New("the chart map shows all of its file: leave out what chooses from other charts")
	case command == "map" && len(req.files) > 1:
		return nil, fmt.Errorf("%s draws one file, got %d: draw them one by one", req.kind.name, len(req.files))
	case ofFiles:
		return nil, fmt.Errorf("-setup, -placement, -tau, -state and -as choose from parameter files: leave them out of %s, or choose with -algorithm, -P, -cache and -m", req.kind.name)
	case len(req.files) > 1:
		return nil, fmt.Errorf("%s draws one file, which taulop %s -json wrote, got %d: draw them one by one, and choose within one with -algorithm, -P and -m", req.kind.name, command, len(req.files))
	case command == "predict" && len(ch.Caches) > 0:
		return nil, errors.New("-cache chooses from other files: leave it out, and choose when you predict")
	}
	c, err := req.kind.document(req)
	if errors.Is(err, fs.ErrNotExist) && command != "map" {
		return nil, fmt.Errorf("%s is not there: write it with taulop %s -json -o %[1]s", req.files[0], command)
	}
	return c, err
}
