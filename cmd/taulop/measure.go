package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/spelling"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/series"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

const measureHelp = `Taulop measures L(S,τ): the time of one transfer of S bytes through shared
memory while τ of them run at once.

  taulop [flags] SEGMENTS SIZE TAU

SEGMENTS  segments of the intermediate buffer that two workers share
SIZE      of a segment: in KB, or with a unit (64B, 8K, 1M); 0 for null transfers
TAU       workers, and so transfers at once

Examples:
  taulop -ring -local 2 8 4             L(8KB,4) as collectives see it
  taulop -bcast -off_cache -local 2 8 4 one writer, three readers, data from memory
  taulop -ping -cpus 0,2 2 64K 2        between two chosen CPUs
  taulop -ring -json -o ring.json 2 8 2 one document with all samples

Other commands, each with its own -h:
COMMANDS
A row has k segments, the message's bytes, its time l(k,τ), and L = l/(transfers·k)
with the 95 % interval of the median. The first lines hold L(S,τ), its mean over k;
y(τ), a transfer of nothing; c = L − y; and the bare copy, measured with no flags.
Rows with too few launches for an interval are not in the mean, unless none has more.

Every command ends by a signal: the first has it print and save what it has, the
second ends it at once. A -time is kept within a quarter or two seconds,
or a warning at the start says why not; what was measured is then printed.

Exit status: 0, 1 if the machine refused, 2 for bad input, 3 if files have too few
samples for an answer (published tables have none by nature: 0); 130 after Ctrl-C, 143
after SIGTERM, 129 after SIGHUP, 131 after SIGQUIT; 134 is a fault of taulop itself.

Flags:
`

// measured are the setups that users choose from.
var measured = append(slices.Clip(setups.All), setups.Share)

// absurd is a segment in bytes that nobody asks for without a unit: those of the paper
// have 8 KB, and bytes are what all other commands count in.
const absurd = 1 << 20

// A request is what the user asked to measure.
type request struct {
	setup    setups.Setup
	policy   numa.Policy
	cpus     []int
	bind     bool
	membind  int // node of all intermediate buffers, if bind
	huge     bool
	fill     bool
	machine  string // what it is to be called
	offCache bool
	segments int
	size     int
	label    string // the size as asked: 8KB
	tau      int
	k        []int
	chosenK  bool
	time     time.Duration
	launches int
	destination
	saying
	version bool
}

func measure(ctx context.Context, out, errOut io.Writer, args []string) error {
	began := time.Now()
	req, err := parseRequest(out, args)
	if err != nil {
		return err
	}
	if req.version {
		fmt.Fprintln(out, provenance.Version())
		return nil
	}
	if !shm.Supported {
		return errNoMeasuring
	}
	ctx, cancel := within(ctx, req.time)
	defer cancel()
	machine, err := numa.Discover("/")
	if err != nil {
		return err
	}
	placement, err := req.place(machine)
	if err != nil {
		return usageError(err.Error())
	}
	request := series.Request{Setup: req.setup.Name, Placement: placement, Segments: req.segments, SegmentBytes: req.size, K: req.k}
	fewer, err := request.Fit(machine, req.offCache, req.chosenK)
	if err != nil {
		return usagef("%v", err)
	}
	doc := req.document(machine, request)
	doc.Warn(append(fewer, starved()...)...)

	said, told := req.aside(errOut), len(doc.Warnings)
	warn(said, doc.Warnings)

	file := &params.File{Provenance: doc.Provenance}
	x := &engine.Experiment{File: file, Time: req.time - time.Since(began), Launches: req.launches}
	if _, err := survey.Add(x, series.Survey, request, machine); err != nil {
		return err
	}
	steal := provenance.StartSteal("/")
	_, err = carryOut(ctx, req.progress(errOut), x.Time, &x.Report, x.Run)
	result := request.Conclude(machine, file)
	for _, w := range file.Warnings {
		doc.Warn(errors.New(w))
	}
	if errors.Is(err, context.Canceled) {
		err = interrupted(fmt.Sprintf("stopped after %s with %d of %d rows", printable.Count(len(file.Launches), "launch"), len(result.Rows), len(request.K)))
	}
	if len(result.Rows) == 0 {
		return cmp.Or(err, nothingIn(req.time))
	}
	switch short := request.Short(result); {
	case short != nil && err == nil:
		doc.Warn(fmt.Errorf("the time was up: %w; allow more with -time, or fewer k with -k", short))
	case short != nil:
		doc.Warn(short)
	}
	doc.Finish(result, file, request.ByState(machine, file))
	doc.Warn(file.Unequal()...)
	doc.Warn(steal.Warnings()...)
	if err != nil {
		doc.Warn(fmt.Errorf("%v: the results are of the rows that are here", err))
	}
	defer warn(said, doc.Warnings[told:]) // after the table and what follows from it
	if failed := req.put(out, &doc); failed != nil {
		return failed
	}
	return err
}

// document is what there is to say before anything is measured.
func (req *request) document(m *numa.Machine, r series.Request) report.Series {
	doc := report.Series{
		Provenance: provenance.Read("/", m),
		Setup:      req.setup.Name, About: req.setup.About, Transfers: req.setup.Transfers,
		Placement: r.Placement,
		Segments:  req.segments, SegmentBytes: req.size, Label: req.label, Tau: req.tau,
		OffCache: req.offCache, ArenaBytes: r.ArenaBytes, Brief: req.quiet,
		Concurrent: !r.Placement.Oversubscribed, Copy: shm.CopyName(),
	}
	doc.Provenance.Name = printable.Name(req.machine)
	doc.Provenance.Give(req.huge)
	doc.Provenance.Fill(req.fill)
	doc.Warn(advised(doc.Provenance.Warnings())...)
	return doc
}

func parseRequest(out io.Writer, args []string) (*request, error) {
	var (
		req    = &request{}
		flags  = flag.NewFlagSet("taulop", flag.ContinueOnError)
		chosen = map[string]*bool{}
		kMax   int

		setupName, placement, cache string
	)
	for _, s := range measured {
		chosen[s.Name] = flags.Bool(s.Name, false, s.About)
	}
	for _, policy := range numa.Policies {
		chosen[string(policy)] = flags.Bool(string(policy), false, policy.About())
	}
	flags.Lookup(string(numa.Local)).Usage += " (default)"
	flags.Lookup(setups.Ring.Name).Usage += " (default)"
	argument.Var(flags, &req.cpus, "cpus", "", "put the workers on these CPUs, in order: a `list` like 0,2 or 0-3", numa.ParseOrder)
	addNode(flags)
	addName(flags, &req.machine)
	flags.IntVar(&req.membind, "membind", 0, "put all intermediate buffers on this NUMA `node`")
	flags.BoolVar(&req.huge, "huge", false, hugeUsage+"; says how much of them was given")
	flags.BoolVar(&req.fill, "fill", false, fillUsage)
	flags.StringVar(&setupName, "setup", "", "`setup` by its name, as other commands have it: -setup ring is -ring")
	flags.StringVar(&placement, "placement", "", "`placement` by its name: -placement local is -local")
	flags.StringVar(&cache, "cache", "", "`where` user buffers are, in cache or off: in, off; -cache off is -off_cache")
	flags.BoolVar(&req.offCache, "off_cache", false, "walk user buffers through memory: four times what caches hold")
	argument.Var(flags, &req.k, "k", "", "segments of a message, a comma-separated `list` (default 1,2,4,…,8192,12288)", argument.Numbers(strconv.Atoi))
	flags.IntVar(&kMax, "kmax", 0, "leave out rows with more than `n` segments")
	flags.DurationVar(&req.time, "time", 10*time.Second, "budget of the whole command")
	flags.IntVar(&req.launches, "launches", 0, "measure in `n` launches, fresh processes each (default as many as there is time for, 6 to 30)")
	req.destination.add(flags)
	req.saying.add(flags, "results only: no header, rows, progress or warnings")
	flags.BoolVar(&req.version, "version", false, "print the version")
	if err := parse(flags, out, args, strings.Replace(measureHelp, "COMMANDS", commandList(), 1)); err != nil {
		return nil, err
	}
	if req.version {
		return req, nil
	}

	given := givenFlags(flags)
	req.bind = given["membind"]
	for _, named := range []struct {
		flag, name string
		known      []string
	}{{"setup", setupName, names(measured)}, {"placement", placement, policies()}} {
		if named.name != "" && !slices.Contains(named.known, named.name) {
			return nil, usagef("-%s: there is no %q; %s", named.flag, named.name, spelling.Suggest(named.name, named.known))
		} else if named.name != "" {
			*chosen[named.name] = true
		}
	}
	if cache != "" {
		off, err := argument.Cache(cache)
		if err != nil {
			return nil, usagef("-cache: %v", err)
		}
		if req.offCache && !off {
			return nil, usagef("-off_cache and -cache in cannot be used together: choose one")
		}
		req.offCache = off
	}
	setup, err := oneOf(chosen, setups.Ring.Name, names(measured)...)
	if err != nil {
		return nil, err
	}
	req.setup, _ = setups.Lookup(setup)
	listed := req.cpus != nil
	chosen[string(numa.List)] = &listed
	policy, err := oneOf(chosen, string(numa.Local), append(policies(), string(numa.List))...)
	if err != nil {
		return nil, err
	}
	req.policy = numa.Policy(policy)

	if n := flags.NArg(); n != 3 {
		return nil, usagef("got %d arguments, want 3: SEGMENTS SIZE TAU, like taulop -ring -local 2 8 4 (-h for more)", n)
	}
	if req.segments, err = strconv.Atoi(flags.Arg(0)); err != nil || req.segments < 1 {
		return nil, usagef("SEGMENTS is %q: give the intermediate buffer a whole number of segments, 1 or more", flags.Arg(0))
	}
	size := flags.Arg(1)
	if req.size, req.label, err = argument.Size(size, 1<<10); err != nil {
		return nil, usageError(err.Error())
	}
	if _, err := strconv.Atoi(size); err == nil && req.size >= absurd {
		return nil, usagef("SIZE is %s, which without a unit is in KB: write %[1]sB for segments of so many bytes, or %[1]sK if you mean %[2]s", size, view.Bytes(req.size))
	}
	if req.tau, err = strconv.Atoi(flags.Arg(2)); err != nil {
		return nil, usagef("TAU is %q: give a whole number of workers", flags.Arg(2))
	}
	if req.tau > numa.MostWorkers {
		return nil, usagef("TAU is %d: use at most %d workers", req.tau, numa.MostWorkers)
	}
	if err := req.setup.Check(req.tau); err != nil {
		return nil, usageError(err.Error())
	}
	if req.time <= 0 {
		return nil, usagef("-time is %v: give a budget above zero, like 10s", req.time)
	}
	if err := cmp.Or(checkLaunches(req.launches), req.destination.check()); err != nil {
		return nil, err
	}
	return req, req.chooseK(kMax, given["kmax"])
}

// oneOf is the one of names whose flag was given, or the default.
func oneOf(given map[string]*bool, otherwise string, names ...string) (string, error) {
	found := lists.Filter(names, func(n string) bool { return *given[n] })
	switch len(found) {
	case 0:
		return otherwise, nil
	case 1:
		return found[0], nil
	}
	return "", usagef("-%s cannot be used together: choose one", strings.Join(found, " and -"))
}

// policies are the names of the placements that need no list of CPUs.
func policies() (names []string) {
	return lists.Map(numa.Policies, func(p numa.Policy) string { return string(p) })
}

// policyNames are these in a sentence.
func policyNames() string { return strings.Join(policies(), ", ") }

func names(all []setups.Setup) (ns []string) {
	return lists.Map(all, func(s setups.Setup) string { return s.Name })
}

// chooseK reads the rows.
func (req *request) chooseK(most int, given bool) error {
	if req.chosenK = req.k != nil; !req.chosenK {
		req.k = series.K
	}
	if most < 0 || given && most == 0 {
		return usagef("-kmax is %d: give a number of segments from 1", most)
	}
	if most > 0 {
		req.k = lists.Filter(req.k, func(k int) bool { return k <= most })
		if len(req.k) == 0 {
			return usagef("-kmax %d leaves no row: the smallest k is above it", most)
		}
	}
	return nil
}

func (req *request) place(m *numa.Machine) (numa.Placement, error) {
	var p numa.Placement
	var err error
	if req.policy == numa.List {
		p, err = m.PlaceOn(req.cpus, req.tau)
	} else {
		p, err = m.Place(req.policy, req.tau)
	}
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
