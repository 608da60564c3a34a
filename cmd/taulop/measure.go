package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/series"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

// measured are the setups of the plain command.
var measured = append(slices.Clip(setups.All), setups.Share)

// absurd is a segment size in bytes that is an error without a unit: SIZE counts KB, as in the
// paper, and all other commands count bytes.
const absurd = 1 << 20

// A request holds the arguments of the plain command.
type request struct {
	series.Request // without Placement
	setup          setups.Setup
	policy         numa.Policy
	cpus           []int
	bind           bool
	membind        int // node of all intermediate buffers, if bind
	huge           bool
	fill           bool
	machine        string // name in the output
	offCache       bool
	label          string // the size as given: 8KB
	tau            int
	kMax           int
	chosenK        bool
	time           time.Duration
	launches       int
	destination
	version bool
	brief   bool // no header, no rows
}

// measureFlags is the plain command.
func measureFlags(flags *argument.Set) action {
	req := &request{}
	req.add(flags)
	return func(ctx context.Context, out io.Writer, errOut *messages, words []string) error {
		if req.version {
			fmt.Fprintln(out, provenance.Version())
			return nil
		}
		if err := req.read(flags, words); err != nil {
			return err
		}
		return req.measure(ctx, out, errOut)
	}
}

// measure measures and prints, also after an early end.
func (req *request) measure(ctx context.Context, out io.Writer, errOut *messages) error {
	began := time.Now()
	machine, err := here()
	if err != nil {
		return err
	}
	request, doc, err := req.plan(machine)
	if err != nil {
		return err
	}
	file := &params.File{Provenance: doc.Provenance}
	// A mean over fewer k is another quantity: it is better without an interval.
	x := &engine.Experiment{File: file, Time: req.time - time.Since(began), Launches: req.launches, Passes: engine.LeastLaunches / 2}
	survey.Add(x, series.Survey, request, machine) // of a known setup, it has cells
	var result series.Result
	return measurement{
		limit: req.time, budget: x.Time, report: &x.Report, warnings: &doc.Warnings,
		run: func(ctx context.Context) error {
			err := x.Run(ctx)
			result = request.Conclude(machine, file)
			return err
		},
		came: func() string {
			return fmt.Sprintf("stopped after %s with %d of %d rows", printable.Count(len(file.Launches), "launch"), len(result.Rows), len(request.K))
		},
		conclude: func(steal *provenance.StealMeter, ended error) error {
			if len(result.Rows) == 0 {
				return cmp.Or(ended, nothingIn(req.time))
			}
			for _, w := range file.Warnings {
				doc.Warn(errors.New(w))
			}
			short := request.Short(result)
			if short != nil && ended == nil {
				short = fmt.Errorf("%w, for the time was up: allow more with -time, or fewer k with -k", short)
			}
			doc.Warn(short)
			doc.Finish(result, file, request.ByState(machine, file))
			doc.Warn(append(doubt.Unequal(file), steal.Warnings()...)...)
			return nil
		},
		put: func(ended error) error {
			if ended != nil { // the command's error, which is printed last
				doc.Warn(fmt.Errorf("%v: the results are of the rows that are here", ended))
			}
			return cmp.Or(req.put(out, doc.Document()), ended)
		},
	}.carryOut(ctx, errOut)
}

// plan is what to measure, and the part of the result that is known before.
func (req *request) plan(machine *numa.Machine) (request series.Request, doc report.Series, err error) {
	placement, err := req.place(machine)
	if err != nil {
		return request, doc, usageError(err.Error())
	}
	request, request.Placement = req.Request, placement
	fewer, err := request.Fit(machine, req.offCache, req.chosenK)
	if err != nil {
		return request, doc, usagef("%v", err)
	}
	doc = report.Series{
		Provenance: provenance.Read("/", machine),
		Setup:      request.Setup, About: req.setup.About, Transfers: req.setup.Transfers, Placement: request.Placement,
		Segments: request.Segments, SegmentBytes: request.SegmentBytes, Label: req.label, Tau: req.tau,
		OffCache: req.offCache, ArenaBytes: request.ArenaBytes, Brief: req.brief,
		Concurrent: !request.Placement.Oversubscribed, Copy: shm.CopyName(),
	}
	doc.Provenance.Name = printable.Name(req.machine)
	doc.Provenance.Give(req.huge)
	doc.Provenance.Fill(req.fill)
	doc.Warn(slices.Concat(advised(doc.Provenance.Warnings()), fewer, starved())...)
	doc.Warn(machine.OtherMemory(placement))
	if !slices.ContainsFunc(placement.Workers, func(w numa.Worker) bool { return w.IntermediateNode != w.Node }) && placement.Policy == numa.Remote {
		doc.Warn(errors.New("the machine has no second NUMA node with memory: remote is local here"))
	}
	return request, doc, nil
}

func (req *request) add(flags *argument.Set) {
	for _, s := range measured {
		flags.Bool(s.Name, false, s.About)
	}
	for _, policy := range numa.Policies {
		flags.Bool(string(policy), false, policy.About())
	}
	flags.Lookup(string(numa.Local)).Usage += " (default)"
	flags.Lookup(setups.Ring.Name).Usage += " (default)"
	argument.Word(flags, &req.Setup, "setup", "", "`setup` by its name, as other commands have it: -setup ring is -ring", names(measured))
	argument.Word(flags, &req.policy, "placement", "", "`placement` by its name: -placement local is -local", policies())
	flags.OneOf(append(names(measured), "setup")...)
	flags.OneOf(append(policies(), "placement", "cpus")...)
	argument.Var(flags, &req.cpus, "cpus", "", "put workers on these CPUs, in order: a `list` like 0,2 or 0-3", numa.ParseOrder)
	addNode(flags, &req.machine)
	flags.IntVar(&req.membind, "membind", 0, "put all intermediate buffers on this NUMA `node`")
	flags.BoolVar(&req.huge, "huge", false, hugeUsage+"; says how much of them was given")
	flags.BoolVar(&req.fill, "fill", false, fillUsage)
	argument.Var(flags, &req.offCache, "cache", "", "user buffers `in|off` cache; -cache off is -off_cache", argument.Cache, "in", "off")
	flags.Bool("off_cache", false, "walk user buffers through memory of four times the caches' size")
	flags.Rules(argument.Rule{Flags: "off_cache", Not: "cache=in", Why: "has user buffers come from memory"})
	argument.Var(flags, &req.K, "k", "", "segments of a message, a `list` like 1,2,4 with doubling ranges: 1:64 (default 1,2,4,…,8192,12288)", argument.Rising(argument.Counts("number of segments", false)))
	flags.IntVar(&req.kMax, "kmax", 0, "leave out rows with more than `n` segments")
	flags.Within("kmax", 1, math.MaxInt32, fmt.Sprintf("give a number of segments from 1 to %d", math.MaxInt32))
	flags.DurationVar(&req.time, "time", 10*time.Second, "budget of the whole command")
	addLaunches(flags, &req.launches, 30)
	flags.Bool("quiet", false, "results only: no header, rows, progress or warnings")
	flags.BoolVar(&req.version, "version", false, "print the version")
	req.destination.add(flags)
}

// read completes the request from flags and operands.
func (req *request) read(flags *argument.Set, words []string) (err error) {
	if len(words) == 0 && flags.NFlag() == 0 {
		return usagef("name a command, %s, or what to measure, like taulop -ring -local 2 8 4; taulop -h says what each is for", strings.Join(commandNames(), ", "))
	}
	if len(words) != 3 {
		return usagef("got %s, want 3: SEGMENTS SIZE TAU, like taulop -ring -local 2 8 4 (-h for more)", printable.Count(len(words), "argument"))
	}
	chosen := func(names []string, otherwise string) string {
		return append(lists.Filter(names, flags.On), otherwise)[0]
	}
	req.setup, _ = setups.Lookup(chosen(names(measured), cmp.Or(req.Setup, setups.Ring.Name)))
	req.Setup = req.setup.Name
	if req.policy = numa.Policy(chosen(policies(), string(cmp.Or(req.policy, numa.Local)))); req.cpus != nil {
		req.policy = numa.List
	}
	req.brief = flags.On("quiet")
	req.bind, req.offCache = flags.Given("membind"), req.offCache || flags.On("off_cache")
	if req.Segments, err = strconv.Atoi(words[0]); err != nil || req.Segments < 1 {
		return usagef("SEGMENTS is %q: give the intermediate buffer a whole number of segments, 1 or more", words[0])
	}
	size := words[1]
	if req.SegmentBytes, req.label, err = argument.Size(size, 1<<10); err != nil {
		return usageError(err.Error())
	}
	if _, err := strconv.Atoi(size); err == nil && req.SegmentBytes >= absurd {
		return usagef("SIZE is %s, which without a unit is in KB: write %[1]sB for segments of so many bytes, or %[1]sK if you mean %[2]s", size, view.Bytes(req.SegmentBytes))
	}
	if req.tau, err = strconv.Atoi(words[2]); err != nil {
		return usagef("TAU is %q: give a whole number of workers", words[2])
	}
	if req.tau > numa.MostWorkers {
		return usagef("TAU is %d: use at most %d workers", req.tau, numa.MostWorkers)
	}
	if err := req.setup.Check(req.tau); err != nil {
		return usageError(err.Error())
	}
	if req.chosenK = req.K != nil; !req.chosenK {
		req.K = series.K
	}
	if most := req.kMax; most > 0 {
		if req.K = lists.Filter(req.K, func(k int) bool { return k <= most }); len(req.K) == 0 {
			return usagef("-kmax %d leaves no row: the smallest k is above it", most)
		}
	}
	return nil
}

// policies are the names of all placements except lists of CPUs.
func policies() (names []string) {
	return lists.Map(numa.Policies, func(p numa.Policy) string { return string(p) })
}

// policyNames are these names, comma-separated.
func policyNames() string { return strings.Join(policies(), ", ") }

func names(all []setups.Setup) (ns []string) {
	return lists.Map(all, func(s setups.Setup) string { return s.Name })
}

func (req *request) place(m *numa.Machine) (p numa.Placement, err error) {
	p, err = transfers.Place(m, -1, req.policy, req.cpus, req.tau)
	if req.setup.Name == setups.Ping.Name {
		p = m.Couple(p)
	}
	if err != nil || !req.bind {
		return p, err
	}
	if p, err = m.BindIntermediate(p, req.membind); err != nil {
		return p, fmt.Errorf("-membind: %w", err)
	}
	return p, nil
}
