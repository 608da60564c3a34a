package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/chart"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/spelling"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A plotKind is a kind of chart: of transfers or surveys in parameter files, of the matrices of one
// file, or of the output of taulop verify, predict or map.
type plotKind struct {
	name, about, example string
	ofMachines           func([]compare.Machine, chart.Choice) (*chart.Chart, error)
	ofFile               func(*plotRequest) (*chart.Chart, error) // of one file: matrices, or what command wrote
	command              string
	flags                string // that choose what to draw
}

// The flags that choose what to draw, by what a chart is of.
const (
	ofTransfers = "setup placement cache m tau as state"
	ofSurveys   = "placement cache m tau state variant"
	ofMatrices  = "m state"
	ofVerified  = "cache m algorithm P"
)

var plotKinds = []plotKind{
	{name: "l-tau", about: "L(S,τ) against τ, a line for each setup and machine",
		example: "taulop plot l-tau -o l.svg host.json", ofMachines: chart.TransfersOverTau, flags: ofTransfers + " bandwidth"},
	{name: "concurrency", about: "A(τ), how many transfers are carried at once, between both bounds",
		example: "taulop plot concurrency -o a.svg a.json b.json", ofMachines: chart.Concurrency, flags: ofTransfers},
	{name: "l-m", about: "L(m,τ) against m, a line for each τ",
		example: "taulop plot l-m -tau 1,2,4 -o l.pdf host.json", ofMachines: chart.TransfersOverSize, flags: ofTransfers + " bandwidth"},
	{name: "copy", about: "c(m,τ) against m, out of own buffers and out of one, or between levels of the memory",
		example: "taulop plot copy -cache off -o c.png host.json", ofMachines: chart.Copies, flags: ofTransfers + " bandwidth levels"},
	{name: "ratio", about: "L(m,τ) of machines as a ratio to the first, against m",
		example: "taulop plot ratio -o r.svg a.json b.json", ofMachines: chart.Ratios, flags: ofTransfers},
	{name: "states", about: "L(m,τ) against m in each state that the machine was in, a panel each", example: "taulop plot states -o s.svg host.json", ofMachines: chart.States, flags: ofTransfers},
	{name: "mlognp", about: "what strided messages cost under mlog_nP and its reductions, against the stride",
		example: "taulop plot mlognp -algorithm bcast:binomial -P 8 -o m.svg host.json", ofMachines: stridedCosts, flags: ofTransfers + " algorithm P nodes"},
	{name: "predict", about: "what collectives cost, against m: a line for each algorithm, or machine",
		example: "taulop plot predict -algorithm bcast -P 8 -o c.svg predict.json", command: "predict", ofFile: drawn(predict.Read, chart.Costs), flags: "m algorithm P bandwidth"},
	{name: "predicted", about: "one collective, predicted and measured, and the relative errors",
		example: "taulop plot predicted -algorithm bcast:binomial -o p.svg verify.json", command: "verify", ofFile: drawn(report.ReadVerification, chart.Predictions), flags: ofVerified},
	{name: "published", about: "collectives that others measured, predicted over measured time against P",
		example: "taulop plot published -algorithm bcast -o b.svg against.json", command: "verify -against OUTPUT", ofFile: drawn(report.ReadPublished, chart.Published), flags: ofVerified},
	{name: "accuracy", about: "predicted over measured time of each model, all collectives",
		example: "taulop plot accuracy -o e.svg verify.json", command: "verify", ofFile: drawn(report.ReadVerification, chart.Accuracy), flags: ofVerified},
	{name: "map", about: "what processes send each other, before and after mapping",
		example: "taulop plot map -o map.svg map.json", command: "map", ofFile: drawn(processmap.Read, chart.ProcessMap)},
}

// Charts of surveys come after transfers.
func init() {
	var kinds []plotKind
	for _, s := range survey.Drawn() {
		if d := s.Drawing; d.Name != "" {
			kind := plotKind{name: d.Name, about: d.About, example: d.Example, flags: ofSurveys,
				ofMachines: func(machines []compare.Machine, ch chart.Choice) (*chart.Chart, error) {
					return chart.Profiles(d, machines, ch)
				}}
			kind.flags += printable.If(d.Ranks, " P")
			kinds = append(kinds, kind)
		}
	}
	for _, s := range survey.All() {
		if s.Matrices != nil {
			kinds = append(kinds, plotKind{name: s.Name, about: s.Doc + ", a heat map", ofFile: heatMaps(s.Matrices), flags: ofMatrices,
				example: fmt.Sprintf("taulop plot %[1]s -o %[1]s.svg %[1]s.json", s.Name)})
		}
	}
	at := slices.IndexFunc(plotKinds, func(k plotKind) bool { return k.ofMachines == nil })
	plotKinds = slices.Insert(plotKinds, at, kinds...)
}

// drawing are the names of the charts that a flag applies to; nil for flags of all charts.
func drawing(flag string) []string {
	kinds := lists.Filter(plotKinds, func(k plotKind) bool { return slices.Contains(strings.Fields(k.flags), flag) })
	return lists.Map(kinds, func(k plotKind) string { return k.name })
}

// A plotRequest holds the flags of plot.
type plotRequest struct {
	kind   plotKind
	choice chart.Choice
	output
	format string
	width  float64
	title  string
	as     string // setup of published tables
	state  stateChoice
	levels []string
	files  []string
	flags  *argument.Set
}

// plotFlags is the subcommand.
func plotFlags(flags *argument.Set) action {
	req := &plotRequest{flags: flags}
	req.add(flags)
	return func(_ context.Context, out io.Writer, errOut *messages, words []string) error {
		if err := req.read(words); err != nil {
			return err
		}
		c, skipped, err := req.chart()
		if err != nil {
			return err
		}
		if flags.Given("title") {
			c.Title = printable.Line(req.title)
		}
		missed := skippedFiles(errOut, skipped, len(req.files))
		if len(c.Omitted) > 0 {
			tell(errOut, "%s has %s as well, which is not drawn: choose with -algorithm, like -algorithm %s", req.files[0], printable.List(c.Omitted), c.Omitted[0])
		}
		err = req.write(req.offTerminal(out), func(w io.Writer) error { return c.Write(w, req.format, req.width) })
		return cmp.Or(err, missed)
	}
}

func (req *plotRequest) add(flags *argument.Set) {
	choice := &req.choice
	flags.StringVar(&req.title, "title", "", "`text` above the chart instead of its own; \"\" for none, as journals want it")
	flags.BoolVar(&choice.Bandwidth, "bandwidth", false, "of "+strings.Join(drawing("bandwidth"), ", ")+": GB/s of all concurrent messages instead of times; of predict m over the time of the call")
	flags.Float64Var(&req.width, "width", chart.ColumnWidth, "`width` in cm; fonts keep their size")
	flags.Within("width", chart.MinWidth, chart.MaxWidth, fmt.Sprintf("give %d to %d cm, a column of print has %g", chart.MinWidth, chart.MaxWidth, chart.ColumnWidth))
	argument.Var(flags, &choice.Setups, "setup", "", "`list` of setups: ring, ping, bcast, sendrecv; of copy: copy, share", argument.Names, append(setupNames(), "copy")...)
	argument.Var(flags, &choice.Placements, "placement", "", "`list` of placements: "+policyNames()+", cpus", argument.Names, policies()...)
	argument.Var(flags, &choice.Caches, "cache", "", "user buffers in cache or off cache, a `list`: in,off", argument.Caches, "in", "off")
	argument.Var(flags, &choice.Sizes, "m", "", "message sizes in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M", argument.Rising(argument.Messages(0)))
	argument.Var(flags, &choice.Taus, "tau", "", "τ, a `list` like 1,2,4 with ranges: 2-8, or doubling 1:16", argument.Taus)
	argument.Var(flags, &req.levels, "levels", "", "of copy: `list` of sources and destinations, like L1-L1,L2-memory", argument.Names)
	argument.Var(flags, &choice.Variants, "variant", "", "of "+strings.Join(drawing("variant"), ", ")+": `list` of parts of names, like float64,read", argument.Names)
	addAs(flags, &req.as)
	req.state.add(flags, "each by itself; of heat maps means over all by their shares")
	argument.Var(flags, &choice.Algorithms, "algorithm", "", "of files of verify and predict, and mlognp: `list` of algorithms like bcast:binomial, or message", argument.Names, algorithmNames()...)
	flags.IntVar(&choice.P, "P", 0, "of files of verify and predict, patterns and mlognp: `ranks` (default the most)")
	flags.Within("P", 0, math.MaxInt32, "give the number of ranks")
	flags.IntVar(&choice.Nodes, "nodes", 0, "of mlognp: `nodes` like the file's machine, with its first network between them (default 1)")
	flags.Within("nodes", 0, numa.MostWorkers, fmt.Sprintf("give the chart mlognp 1 to %d", numa.MostWorkers))
	req.output.add(flags, "write to a new `file`, whose extension says the format: "+strings.Join(chart.Formats, ", "))
}

// read completes the request from operands.
func (req *plotRequest) read(words []string) error {
	kind := lists.Find(plotKinds, func(k plotKind) bool { return k.name == words[0] })
	if kind == nil && isFile(words[0]) {
		return usagef("%s is a file: say first which chart, like %s", words[0], plotKinds[0].example)
	}
	if kind == nil {
		return usagef("there is no chart %s; %s", strconv.Quote(words[0]), spelling.Suggest(words[0], kindNames()))
	}
	req.kind = *kind
	for _, name := range req.flags.Names() {
		if of := drawing(name); req.flags.On(name) && of != nil && !slices.Contains(of, req.kind.name) {
			return usagef("-%s is of other charts (%s): leave it out of %s", name, strings.Join(of, ", "), req.kind.name)
		}
	}
	if req.files = words[1:]; len(req.files) == 0 {
		return usagef("name the file to draw, like %s", req.kind.example)
	}
	if len(req.files) > 1 && req.kind.ofFile != nil {
		return usagef("%s draws one file, got %d: draw them one by one, and choose within one with flags", req.kind.name, len(req.files))
	}
	if !req.flags.Given("o") {
		return usagef("-o is missing: say where the figure goes, like %s", req.kind.example)
	}
	if req.format = strings.ToLower(strings.TrimPrefix(filepath.Ext(req.path), ".")); req.path == "" {
		req.format = "svg"
	}
	if !slices.Contains(chart.Formats, req.format) {
		return usagef("-o %s has no extension that says a format: take .%s", req.path, strings.Join(chart.Formats, ", ."))
	}
	req.choice.Variants = append(req.choice.Variants, req.levels...)
	return nil
}

// stridedCosts draws the costs of one algorithm on one machine; the default is bcast:linear.
func stridedCosts(machines []compare.Machine, ch chart.Choice) (*chart.Chart, error) {
	switch n := len(machines); {
	case n > 1 && machines[0].Path == machines[n-1].Path:
		return nil, fmt.Errorf("this chart is of one state, and the machine was in %d: choose with -state, like -state most", n)
	case n != 1:
		return nil, fmt.Errorf("this chart is of one machine, %d are named: name one", n)
	}
	if len(ch.Algorithms) > 1 || len(ch.Placements) > 1 || len(ch.Caches) > 1 {
		return nil, fmt.Errorf("this chart shows one algorithm, placement and state of the cache: name one of each")
	}
	m := machines[0]
	c := model.Choice{OffCache: slices.Contains(ch.Caches, true), Placement: append(ch.Placements, "")[0]}
	if ch.Nodes > 1 {
		c.Cluster = &model.Cluster{Nodes: ch.Nodes}
	}
	d, err := predict.StridedOf(m.File, c, append(ch.Algorithms, "bcast:linear")[0], ch.P, ch.Sizes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	d.Where = append([]string{m.Name}, d.Where...)
	return chart.StridedCosts(d)
}

// chart reads the files and makes the chart.
func (req *plotRequest) chart() (c *chart.Chart, skipped []error, err error) {
	if req.kind.ofFile != nil {
		c, err = req.kind.ofFile(req)
		if errors.Is(err, fs.ErrNotExist) && req.kind.command != "map" {
			err = fmt.Errorf("%s is not there: write it with taulop %s -json -o %[1]s", req.files[0], req.kind.command)
		}
		return c, nil, refused(err)
	}
	machines, skipped, err := compare.ReadAll(req.files)
	if err != nil {
		return nil, nil, usagef("%v", unreadable(err, req.files...))
	}
	if machines, err = req.state.each(machines); err != nil {
		return nil, nil, err
	}
	notes := takePublished(machines, req.as)
	if c, err = req.kind.ofMachines(machines, req.choice); err != nil {
		return nil, nil, usagef("%v", err)
	}
	c.Caption = append(c.Caption, notes...)
	return c, skipped, nil
}

// heatMaps reads one parameter file and draws its matrices.
func heatMaps(matrices func(*params.File) ([]view.Matrix, error)) func(*plotRequest) (*chart.Chart, error) {
	return func(req *plotRequest) (c *chart.Chart, err error) {
		f, err := req.state.read("", req.files[0])
		if err != nil {
			return nil, err
		}
		all, err := matrices(f.File)
		if err == nil {
			c, err = chart.HeatMaps(f.Name, all, req.choice)
		}
		if err != nil {
			return nil, usagef("%s: %v", req.files[0], err)
		}
		if states := f.States(); states != "" && f.File.State() == nil { // else the title has it
			c.Caption = append(c.Caption, states)
		}
		return c, nil
	}
}

// drawn reads one file and draws it.
func drawn[T any](read func(io.Reader, string) (T, error), draw func(T, chart.Choice) (*chart.Chart, error)) func(*plotRequest) (*chart.Chart, error) {
	return func(req *plotRequest) (*chart.Chart, error) {
		d, err := infile.Read(req.files[0], read)
		if err != nil {
			return nil, err
		}
		return draw(d, req.choice)
	}
}
