package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

var predictHelp = `Predict says what collectives cost on the machine of a parameter file.

  taulop predict -params FILE -P LIST [flags] COLLECTIVE[:ALGORITHM] ...

Without an algorithm it predicts all of that collective. FILE is what taulop
sweep writes, or a table in the published text format.

Examples:
  taulop predict -params host.json -P 2,4,8 -m 1K:1M bcast
  taulop predict -params SHM.txt -gamma gamma.txt -P 2-16 -m 64K allreduce
  taulop predict -params host.json -P 8 -m 16K -stride 64 bcast:binomial
  taulop predict -params SHM.txt -P 8 -m 8K,1M -model lognp -tsv bcast:binomial allgather:ring

Collectives:
` + collectiveList() + `
Models: taulop; libtaulop, τ-Lop as the authors' library computes it; lognp,
whose o(m) is half of what an isolated message costs under τ-Lop; mlognp, with an o(m)
for each level of the machine, if taulop pairs measured it; loggp, if the file has
its parameters. Strided messages are known to taulop and lognp alone.

Flags:
`

// A costRequest is what the user asked predict or explain to cost.
type costRequest struct {
	file, gamma, operator, machine string
	setup, placement               string
	offCache                       bool
	model, transport, segmentText  string
	strideText                     string
	stride                         int // bytes from element to element, 0: contiguous messages
	psText, msText                 string
	root, degree                   int
	given                          map[string]bool // flags

	ps, ms     []int
	segment    int
	algorithms []*collective.Algorithm
	asked      map[*collective.Algorithm]bool // by name, not as one of all
	source     report.Source
	coster     coster
	inContext  func(m int) coster // the model for calls of m bytes, nil if it is coster whatever m is
	beside     func(m int) coster // τ-Lop, where its cost is shown beside the model's
	warnings   []error            // about the parameters
	largest    int                // m measured
	noGamma    error              // why there is no γ, nil if there is
	zeros      *params.Curve      // L(m,τ) where it has times of 0, else nil
}

// A coster is a model.
type coster interface {
	Cost(*collective.Schedule) (model.Cost, error)
}

var costModels = []string{"taulop", "libtaulop", "lognp", "mlognp", "loggp"}

func predict(ctx context.Context, out, errOut io.Writer, args []string) error {
	var (
		req    costRequest
		flags  = req.flags("taulop predict", "1K:4M")
		tsv    = flags.Bool("tsv", false, "a line for each cost: machine, collective, algorithm, P, m_bytes, cost_us")
		asJSON = flags.Bool("json", false, "one JSON document")
	)
	if err := req.parse(flags, out, args, predictHelp); err != nil {
		return err
	}
	warn(errOut, req.warnings)
	if *tsv && *asJSON {
		return usagef("-tsv and -json cannot be used together: choose one")
	}
	doc := report.Predictions{Source: req.source}
	err := req.each(ctx, &doc.LeftOut, func(p report.Prediction, _ *collective.Schedule, _ model.Cost) {
		doc.Rows = append(doc.Rows, p)
	})
	if err != nil {
		return err
	}
	doc.MarkCheapest()
	switch {
	case *asJSON:
		return doc.WriteJSON(verbatim(out))
	case *tsv:
		for _, why := range doc.LeftOut {
			tell(errOut, "left out: %s", why)
		}
		doc.WriteTSV(out)
	default:
		doc.WriteText(out)
	}
	return nil
}

// flags are those that predict and explain share.
func (req *costRequest) flags(command, sizes string) *flag.FlagSet {
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	req.parameterFlags(flags)
	flags.StringVar(&req.model, "model", "taulop", "`model`: "+strings.Join(costModels, ", "))
	flags.StringVar(&req.psText, "P", "", "ranks, a `list` like 2,4,8 with ranges: 2-16, or doubling 2:1024")
	flags.StringVar(&req.msText, "m", sizes, "message sizes in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M")
	flags.StringVar(&req.strideText, "stride", "", "`bytes` from element to element of strided messages: they are packed before the first transfer and unpacked after the last")
	flags.IntVar(&req.root, "root", 0, "`rank` of the root of "+rootedNames())
	return flags
}

// parameterFlags choose parameters and the way of a message.
func (req *costRequest) parameterFlags(flags *flag.FlagSet) {
	flags.StringVar(&req.file, "params", "", "parameters of a machine, a `file`")
	flags.StringVar(&req.gamma, "gamma", "", "γ of reductions, a `file` in the published text format (default what -params has)")
	flags.StringVar(&req.operator, "op", "sum", "`operator` of reductions")
	flags.StringVar(&req.machine, "machine", "", "`name` of the machine in the output (default from the file)")
	flags.StringVar(&req.setup, "setup", "", "`setup` that measured L: ring, bcast, ping (default ring, or the file's first)")
	flags.StringVar(&req.placement, "placement", "", "`placement` that L was measured with: local, spread, remote (default the file's first)")
	flags.BoolVar(&req.offCache, "off_cache", false, "user data in memory, not in cache")
	flags.StringVar(&req.transport, "transport", "segmented", "`way` of a message: segmented, steady, whole, single-copy")
	flags.StringVar(&req.segmentText, "segment", "", "`size` of a segment (default the file's, or 8K)")
	flags.IntVar(&req.degree, "degree", 2, "`children` of a rank in bcast:sm-tree")
}

// parse reads flags and collectives, in any order, and the files they name.
func (req *costRequest) parse(flags *flag.FlagSet, out io.Writer, args []string, help string) error {
	names, err := parseWords(flags, out, args, help)
	if err != nil {
		return err
	}
	req.machine = printable.Name(req.machine)
	req.given = make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { req.given[f.Name] = true })
	if err := req.choose(names); err != nil {
		return err
	}
	if err := req.lists(); err != nil {
		return err
	}
	return req.load()
}

// choose finds the algorithms.
func (req *costRequest) choose(names []string) error {
	if len(names) == 0 {
		return usagef("name a collective, or one of its algorithms like bcast:binomial: %s", strings.Join(collective.Names(collective.Collectives()), ", "))
	}
	req.asked = make(map[*collective.Algorithm]bool)
	for _, name := range names {
		if name == verify.Message {
			return usagef("a message is no collective: take bcast:linear with -P 2, which is one message, or measure messages with taulop verify message")
		}
		var found []*collective.Algorithm
		var err error
		if strings.Contains(name, ":") {
			var a *collective.Algorithm
			a, err = collective.Lookup(name)
			req.asked[a] = true
			found = append(found, a)
		} else {
			found, err = collective.Of(name)
		}
		if err != nil {
			return usageError(err.Error())
		}
		for _, a := range found {
			if !slices.Contains(req.algorithms, a) {
				req.algorithms = append(req.algorithms, a)
			}
		}
	}
	return nil
}

func (req *costRequest) lists() (err error) {
	if req.psText == "" {
		return usagef("-P is missing: say among how many ranks, like -P 2,4,8")
	}
	req.ps, err = argument.List(req.psText, true, func(text string) (int, error) {
		p, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%q is not a number of ranks: give whole numbers from 1, like 2,4,8 or 2-16", text)
		case p < 1:
			return 0, fmt.Errorf("a collective needs at least one rank, got P = %d", p)
		}
		return p, nil
	})
	if err != nil {
		return usagef("-P: %v", err)
	}
	req.ms, err = argument.List(req.msText, false, func(text string) (int, error) {
		if strings.HasPrefix(text, "-") {
			return 0, fmt.Errorf("a message has 0 bytes or more, got m = %s", text)
		}
		return argument.Bytes(text)
	})
	if err != nil {
		return usagef("-m: %v", err)
	}
	if req.given["stride"] {
		if req.stride, err = argument.Bytes(req.strideText); err != nil || req.stride < 1 {
			return usagef("-stride is %q: give the bytes from element to element, like 64", req.strideText)
		}
	}
	return req.tree()
}

// tree reads what lays segments and trees out.
func (req *costRequest) tree() (err error) {
	req.segment = 8 << 10
	if req.given["segment"] {
		req.segment, err = argument.Bytes(req.segmentText)
	}
	switch {
	case err != nil:
		return usagef("-segment: %v", err)
	case req.segment < 1:
		return usagef("-segment is %s: give a segment of at least one byte", req.segmentText)
	case req.degree < 2:
		return usagef("-degree is %d: a tree needs 2 or more", req.degree)
	}
	return nil
}

// load reads the files and makes the model.
func (req *costRequest) load() error {
	if !slices.Contains(costModels, req.model) {
		return usagef("unknown model %q: take one of %s", req.model, strings.Join(costModels, ", "))
	}
	transport, err := model.ParseTransport(req.transport)
	if err != nil {
		return usagef("-transport: %v", err)
	}
	if req.file == "" {
		return usagef("-params is missing: name a file that taulop sweep wrote, or a table in the published text format")
	}
	if req.model == "mlognp" && req.stride > 0 {
		return usagef("-model mlognp knows contiguous messages only: leave -stride out, or take -model taulop or lognp")
	}
	parameters, err := req.readParameters()
	if err != nil {
		return err
	}
	if parameters.gamma == nil {
		req.noGamma = parameters.noGamma
	}
	for _, a := range req.algorithms {
		if a.Reduces() && parameters.gamma == nil {
			return usagef("%s needs γ; %s; name a file that has it with -gamma", a, parameters.noGamma)
		}
	}
	if parameters.table == nil {
		return req.mlognp(parameters)
	}
	pipelined := transport == model.Segmented || transport == model.Steady
	taulop := model.TauLop{Parameters: parameters.table, Segment: req.segment}
	complete := func(t model.TauLop) model.TauLop {
		t.Transport, t.Operator, t.Reductions = transport, req.operator, nil // -gamma goes before the file's
		if parameters.gamma != nil {
			t.Reductions = parameters.gamma
		}
		if parameters.packing != nil {
			t.Packing, t.Stride = func(m int) (float64, bool) { return parameters.packing.At(m, 1) }, req.stride
		}
		return t
	}
	if machine := parameters.native; machine != nil {
		taulop = machine.Whole()
		if pipelined {
			req.inContext = func(m int) coster { return complete(machine.Call(m, req.segment)) }
			taulop = machine.Call(0, req.segment)
		}
	}
	taulop = complete(taulop)
	if req.model == "mlognp" {
		req.beside = func(int) coster { return taulop }
		if req.inContext != nil {
			req.beside = req.inContext
		}
		return req.mlognp(parameters)
	}
	curve := &parameters.table.Transfers
	if zeros := curve.Zeros(); zeros != "" {
		req.zeros = curve
		req.warnings = append(req.warnings, fmt.Errorf("%s: %s, which is no time: what needs it is not known and is not ranked", req.file, zeros))
	}
	req.largest = curve.Sizes[len(curve.Sizes)-1]
	req.source = report.Source{
		Machine: parameters.machine, File: req.file, Channel: parameters.channel, Transport: transport.String(),
		Measured: fmt.Sprintf("m from %s to %s and τ from %d to %d",
			view.Bytes(curve.Sizes[0]), view.Bytes(curve.Sizes[len(curve.Sizes)-1]), curve.Taus[0], curve.Taus[len(curve.Taus)-1]),
		Rule: model.ExtrapolationRule,
	}
	if packing := parameters.packing; packing != nil {
		req.source.Measured += fmt.Sprintf(", and p(m,%d) with m from %s to %s", req.stride,
			view.Bytes(packing.Sizes[0]), view.Bytes(packing.Sizes[len(packing.Sizes)-1]))
	}
	if req.machine != "" {
		req.source.Machine = req.machine
	}
	if pipelined {
		req.source.Segment = req.segment
	}
	switch req.model {
	case "taulop":
		req.source.Model, req.coster = "τ-Lop", taulop
	case "libtaulop":
		if req.stride > 0 {
			return usagef("-model libtaulop knows contiguous messages only: leave -stride out, or take -model taulop or lognp")
		}
		if req.given["transport"] && transport != model.Whole {
			return usagef("-model libtaulop knows whole messages only: leave -transport out, or take -model taulop")
		}
		req.source.Transport, req.source.Segment = model.Whole.String(), 0
		req.source.Model, req.source.Rule = "τ-Lop as the authors' library computes it", model.LibraryRule
		req.inContext, req.coster = nil, model.Library{Table: parameters.table, Gamma: parameters.gamma, Operator: req.operator}
	case "lognp":
		baseline, err := model.LogNPOf(taulop)
		if err != nil {
			return usageError(err.Error())
		}
		req.source.Model, req.coster = "log_nP", baseline
		if inContext := req.inContext; inContext != nil {
			req.inContext = func(m int) coster {
				baseline, _ := model.LogNPOf(inContext(m).(model.TauLop)) // the transport is known
				return baseline
			}
		}
	case "loggp":
		if req.stride > 0 {
			return usagef("-model loggp knows contiguous messages only: leave -stride out, or take -model taulop or lognp")
		}
		req.inContext, req.zeros = nil, nil
		return req.loggp(parameters)
	}
	return nil
}

// mlognp makes the model of pairs of CPUs, whose file need not have any transfers.
func (req *costRequest) mlognp(p *parameters) error {
	if p.file == nil {
		return usagef("%s has no pairs of CPUs: mlog_nP takes a file of taulop pairs", req.file)
	}
	m, err := model.MLogNPOf(p.file, p.placement)
	if err != nil {
		return usagef("%s: %v", req.file, err)
	}
	if m.Operator = req.operator; p.gamma != nil {
		m.Reductions = p.gamma
	}
	var levels []string
	for _, l := range m.Levels {
		levels = append(levels, l.Name)
		if sizes := l.Transfer.Sizes; len(sizes) > 0 {
			req.largest = max(req.largest, sizes[len(sizes)-1])
		}
	}
	name := req.machine
	if name == "" {
		name = p.machine
	}
	req.source = report.Source{
		Machine: name, File: req.file, Channel: fmt.Sprintf("placement %s, levels: %s", p.placement, strings.Join(levels, ", ")),
		Model: "mlog_nP", Measured: "m up to " + view.Bytes(req.largest), Rule: model.ExtrapolationRule,
	}
	req.inContext, req.coster, req.zeros = nil, m, nil
	return nil
}

func (req *costRequest) loggp(p *parameters) error {
	if len(p.trips) == 0 {
		return usagef("%s has no LogGP parameters: they come from round trips, PRTT(n,d,m), which only a file of taulop sweep can hold", req.file)
	}
	baseline, warnings, err := model.AssessLogGP(p.trips)
	if err != nil {
		return usagef("%s: %v", req.file, err)
	}
	req.warnings = append(req.warnings, warnings...)
	baseline.Operator, baseline.Segment = req.operator, req.source.Segment
	if p.gamma != nil {
		baseline.Reductions = p.gamma
	}
	req.source.Model, req.coster = "LogGP", baseline
	return nil
}

// parameters are what a file holds of one channel.
type parameters struct {
	machine string
	channel string        // in words, if the file has several
	table   *params.Table // L(m,τ) of contiguous messages
	gamma   *params.Gamma // nil where there is none
	noGamma error         // why, if that needs saying
	trips   []model.RoundTrip
	native  *model.Machine // nil for published tables

	file      *params.File // nil for published tables
	placement numa.Policy
	packing   *params.Curve // p(m,d) of -stride, nil without
}

func (req *costRequest) readParameters() (*parameters, error) {
	f, err := readParameterFile(req.file)
	if err != nil {
		return nil, usagef("-params: %v", err)
	}
	var p *parameters
	if f.text {
		p, err = req.published(f)
	} else {
		p, err = req.native(f)
	}
	if err != nil || req.gamma == "" {
		return p, err
	}
	g, err := os.Open(req.gamma)
	if err != nil {
		return nil, usagef("-gamma: %v", err)
	}
	defer g.Close()
	if p.gamma, err = params.ReadGammaText(g, req.gamma); err != nil {
		return nil, usagef("-gamma: %v", err)
	}
	return p, nil
}

// published is a file with one table.
func (req *costRequest) published(f *parameterFile) (*parameters, error) {
	for _, name := range []string{"setup", "placement", "off_cache"} {
		if req.given[name] {
			return nil, usagef("-%s chooses among what taulop sweep measured; %s is in the published text format and has one table", name, req.file)
		}
	}
	if req.stride > 0 {
		return nil, usagef("-stride needs p(m,d), which published tables do not have: name a file of taulop sweep -with pack")
	}
	table, err := f.file.Table(params.Published, params.Published, false)
	if err != nil {
		return nil, usagef("%s: %v", req.file, err)
	}
	return &parameters{machine: f.machine, table: table, noGamma: fmt.Errorf("%s holds L and o alone", req.file)}, nil
}

func (req *costRequest) native(read *parameterFile) (*parameters, error) {
	f := read.file
	setup := model.SetupOf(f, req.setup)
	placement := numa.Policy(req.placement)
	if placement == "" && len(f.Plan.Policies) > 0 {
		placement = f.Plan.Policies[0]
	}
	offCache := req.offCache
	if !req.given["off_cache"] && !slices.Contains(f.Plan.Caches, false) {
		offCache = true
	}
	if !req.given["segment"] && f.Plan.SegmentBytes > 0 {
		req.segment = f.Plan.SegmentBytes
	}
	p := &parameters{machine: read.machine, file: f, placement: placement, channel: setup}
	for _, special := range [][2]string{{params.Ping, "one way"}, {params.Sendrecv, "fresh exchanges"}} {
		if req.setup == "" && special[0] != setup && slices.Contains(f.Plan.Setups, special[0]) {
			p.channel += ", " + special[1] + " " + special[0]
		}
	}
	p.channel += fmt.Sprintf(", placement %s, in cache", placement)
	if offCache {
		p.channel = strings.TrimSuffix(p.channel, "in cache") + "off cache"
	}
	for _, place := range f.Placements {
		if place.Oversubscribed {
			req.warnings = append(req.warnings, fmt.Errorf("%s was measured with more workers than CPUs: what it says of large τ is no measurement of concurrency", req.file))
			break
		}
	}
	var err error
	if p.gamma, err = f.Gamma(placement); err != nil {
		p.noGamma = fmt.Errorf("%s: %w", req.file, err)
	}
	if p.table, err = f.Table(setup, placement, offCache); err != nil {
		if req.model == "mlognp" {
			return p, nil
		}
		return nil, usagef("%s: %v", req.file, err)
	}
	if !slices.Contains(f.Plan.Setups, params.Published) {
		m, err := model.MachineOf(f, req.setup, placement, offCache)
		if err != nil {
			return nil, usagef("%s: %v", req.file, err)
		}
		p.native = &m
	}
	if req.stride > 0 {
		if p.packing, err = f.P(req.stride, offCache); err != nil {
			return nil, usagef("%s: -stride: %v", req.file, err)
		}
		p.channel += fmt.Sprintf(", a stride of %d bytes", req.stride)
	}
	p.trips = model.RoundTrips(f, placement, offCache)
	return p, nil
}

// each costs every call, in the order of P, m and algorithm. Algorithms that
// the user did not name are left out where they do not exist, and it says why.
func (req *costRequest) each(ctx context.Context, leftOut *[]report.Omission, take func(report.Prediction, *collective.Schedule, model.Cost)) error {
	for _, p := range req.ps {
		algorithms := req.existing(p, leftOut)
		for i, bytes := range req.ms {
			for _, a := range algorithms {
				m := bytes
				if a.Collective.Empty() {
					if m = 0; i > 0 {
						continue
					}
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				s, c, err := req.cost(a, p, m)
				if errors.Is(err, model.ErrContiguous) && !req.asked[a] {
					leaveOut(leftOut, a, "copies contiguous messages alone", p)
					continue
				}
				if err != nil {
					return err
				}
				row := report.Prediction{
					Collective: a.Collective.Name, Algorithm: a.Name, P: p, Bytes: m,
					Microseconds: c.Seconds * 1e6, Extrapolated: c.Extrapolated, Unknown: c.Unknown,
				}
				if s.Algorithm != a {
					row.Chosen = s.Algorithm.Name
				}
				if req.beside != nil {
					other, err := req.beside(m).Cost(s)
					if err != nil {
						return usageError(err.Error())
					}
					us := other.Seconds * 1e6
					row.TauLop = &us
				}
				take(row, s, c)
			}
		}
	}
	return nil
}

// existing are the algorithms that exist for so many ranks. The others are left
// out, unless the user named them: then their refusal is the answer.
func (req *costRequest) existing(p int, leftOut *[]report.Omission) (algorithms []*collective.Algorithm) {
	for _, a := range req.algorithms {
		if !a.PowerOfTwo || req.asked[a] || p&(p-1) == 0 {
			algorithms = append(algorithms, a)
			continue
		}
		leaveOut(leftOut, a, "needs a power of two of ranks", p)
	}
	return algorithms
}

func leaveOut(leftOut *[]report.Omission, a *collective.Algorithm, why string, p int) {
	i := slices.IndexFunc(*leftOut, func(o report.Omission) bool { return o.Algorithm == a.String() && o.Why == why })
	if i < 0 {
		i = len(*leftOut)
		*leftOut = append(*leftOut, report.Omission{Algorithm: a.String(), Why: why})
	}
	if o := &(*leftOut)[i]; !slices.Contains(o.P, p) {
		o.P = append(o.P, p)
	}
}

// cost costs one call.
func (req *costRequest) cost(a *collective.Algorithm, p, m int) (*collective.Schedule, model.Cost, error) {
	s, err := a.Schedule(collective.Call{P: p, Root: req.root, M: m, Segment: req.segment, Degree: req.degree})
	if err != nil {
		return nil, model.Cost{}, usageError(err.Error())
	}
	coster := req.coster
	if req.inContext != nil {
		coster = req.inContext(m)
	}
	c, err := coster.Cost(s)
	if errors.Is(err, model.ErrContiguous) && !req.asked[a] {
		return nil, model.Cost{}, err
	}
	if err != nil {
		return nil, model.Cost{}, usagef("%v", err)
	}
	c.Unknown = req.unknown(c)
	return s, c, nil
}

// unknown tells whether a cost comes from a time of 0: of transfers, or of the message
// that log_nP has its o(m) from.
func (req *costRequest) unknown(c model.Cost) bool {
	return req.zeros != nil && slices.ContainsFunc(c.Terms, func(t model.Term) bool {
		transfer := t.Parameter == "L" || t.Parameter == "o" && req.model == "lognp"
		return transfer && t.Bytes > 0 && req.zeros.Zero(t.Bytes, max(1, t.Tau))
	})
}
