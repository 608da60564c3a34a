package params

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// Limits of a file. Files from unknown sources must not exhaust memory.
const (
	maxFile       = 64 << 20 // bytes
	maxHeader     = 8 << 20  // bytes of a field that does not grow with sessions
	maxLaunch     = 2 << 20  // bytes of a launch
	maxSamples    = 4 << 20  // of all cells
	maxWorkers    = 1 << 14
	maxCount      = 1 << 30 // samples, transfers, segments …
	maxCPUs       = 1 << 16
	maxName       = 64  // bytes
	maxMark       = 255 // bytes
	longest       = 1e9 // seconds of any time: sums remain finite
	maxNs         = longest * 1e9
	maxListed     = 1 << 16 // sizes, τ or CPUs of a plan
	maxPlacements = 16
	maxLaunches   = 1 << 16
	maxWarnings   = 1 << 18
	maxProbes     = 1 << 10 // of a launch
	maxWatches    = 1 << 20 // all pairs of 1,400 CPUs
	maxStates     = 1 << 6  // of a watch
)

// A LimitError says which of Read's limits a file exceeds.
type LimitError string

func (e LimitError) Error() string { return string(e) }

func limitf(format string, args ...any) error { return LimitError(fmt.Sprintf(format, args...)) }

// sorted has the indices of the cells in the file's order; cells with equal keys keep their order.
func (f *File) sorted() []int32 {
	order := lists.Map(lists.Indices(len(f.Cells)), func(i int) int32 { return int32(i) })
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(f.Cells[a].Key.order(&f.Cells[b].Key), int(a-b)) })
	return order
}

func checkFormat(format string, version int) error {
	switch {
	case strings.HasPrefix(format, "taulop") && format != Format:
		return fmt.Errorf("this is no parameter file but a result of %.40s: parameters are what taulop sweep writes", printable.Part(format))
	case format != Format:
		return fmt.Errorf("format is %.40q, want %q", format, Format)
	case version < 1:
		return fmt.Errorf("version is %d; the first is 1", version)
	case version > Version:
		return fmt.Errorf("version %d of the format is not one that this taulop reads, which is %d: take the taulop that wrote the file, or measure anew", version, Version)
	}
	return nil
}

// checkState checks the fields that are read as a whole, except the plan and networks.
func (f *File) checkState() error {
	if len(f.Journal) > maxMark {
		return fmt.Errorf("journal is %.40q…; want the mark of a journal, up to %d bytes", f.Journal, maxMark)
	}
	return cmp.Or(limited("seconds", f.Seconds, 0, longest), limited("persistence", f.Persistence, 0, 1), f.Provenance.Memory.check(),
		limited("number of placements", len(f.Placements), 0, maxPlacements),
		each(f.Placements, func(p numa.Placement) error {
			return cmp.Or(checkPolicy(p.Policy), limited("number of a placement's workers", len(p.Workers), 0, maxWorkers))
		}))
}

// Swept reports whether the plan is a sweep's, which can be resumed.
func (p *Plan) Swept() bool {
	return len(p.Setups) > 0 && len(p.Taus) > 0 && len(p.Sizes) > 0 && len(p.Policies) > 0 && !slices.Contains(p.Policies, Published)
}

// Imported reports whether a file was made of another program's times, which were taken at an unknown time.
func (f *File) Imported() bool { return f.Seconds == 0 && len(f.Launches) == 0 }

// OneWorker is an error for a sweep with one worker, which copied to itself; nil for others.
func (f *File) OneWorker() error {
	if !f.Plan.Swept() || !slices.Equal(f.Plan.Taus, []int{1}) || slices.ContainsFunc(f.Cells, func(c Cell) bool { return c.Setup == Isolated }) {
		return nil
	}
	return errors.New("one worker measured, which copied to itself: there are no transfers between two ranks, which take two CPUs")
}

// Warn adds warnings that the file does not have yet.
func (f *File) Warn(warnings ...error) {
	for _, w := range warnings {
		if text := w.Error(); !slices.Contains(f.Warnings, text) {
			f.Warnings = append(f.Warnings, text)
		}
	}
}

// ErrUnfinished is the error for cells that a sweep has not measured yet.
var ErrUnfinished = errors.New("resume its sweep, which measures what is missing")

// Completion says how to complete an incomplete file.
func (f *File) Completion() error {
	if f.Plan.Swept() {
		return ErrUnfinished
	}
	return errors.New("measure it again, and allow more time")
}

func (p *Plan) check() error {
	if repeated(p.Setups) || repeated(p.Policies) || repeated(p.Caches) || repeated(p.Operators) {
		return errors.New("a setup, placement, operator or state of the cache is there twice")
	}
	return cmp.Or(rising("size", p.Sizes, maxSize), rising("τ", p.Taus, maxCount),
		limited("sizes, τ or CPUs: their number", max(len(p.Sizes), len(p.Taus), len(p.CPUs)), 0, maxListed),
		each(p.CPUs, func(cpu int) error { return limited("CPU", cpu, 0, maxCount) }),
		each(p.Setups, checkSetup), each(p.Policies, checkPolicy), each(p.Operators, checkOperator),
		limited("segments", p.Segments, 0, maxSize), limited("segment_bytes", p.SegmentBytes, 0, maxSize),
		buffers("more_segments", p.AllSegments()), buffers("more_segment_bytes", p.AllSegmentBytes()),
		limited("cache_bytes", p.CacheBytes, 0, maxSize), limited("own_cache_bytes", p.OwnCacheBytes, 0, maxSize),
		limited("budget_s", p.Budget, 0, longest), limited("arena_caches", p.ArenaCaches, 0, 1<<10), limited("width", p.Width, 0, 1))
}

// buffers checks numbers of segments, or their sizes, the plan's first one first.
func buffers(what string, all []int) error {
	if len(all) > MostBuffers || repeated(all) {
		return fmt.Errorf("%s: %d values; the most is %d, each once and none of them the first", what, len(all)-1, MostBuffers-1)
	}
	return each(all[1:], func(v int) error { return limited(what, v, 1, maxSize) })
}

func rising(what string, values []int, most int) error {
	before := 0
	for _, v := range values {
		if err := cmp.Or(checkNext(what, before, v), limited(what, v, 1, most)); err != nil {
			return err
		}
		before = v
	}
	return nil
}

// checkNext refuses a size or τ that is not above the one before it.
func checkNext(what string, before, v int) error {
	switch {
	case v < 1:
		return fmt.Errorf("%s %d; the smallest possible is 1", what, v)
	case v == before:
		return fmt.Errorf("%s %d is there twice", what, v)
	case v < before:
		return fmt.Errorf("%s %d comes after %d; they must rise", what, v, before)
	}
	return nil
}

// limited refuses a number outside least … most, and NaN.
func limited[N int | float64](what string, v, least, most N) error {
	if !(v >= least && v <= most) {
		return fmt.Errorf("%s is %v; want %v … %v", what, v, least, most)
	}
	return nil
}

// each is the first error of checking values.
func each[T any](values []T, check func(T) error) error {
	for _, v := range values {
		if err := check(v); err != nil {
			return err
		}
	}
	return nil
}

func repeated[T comparable](values []T) bool { return len(lists.Unique(values)) < len(values) }

// A rule is what keys of a kind may have.
type rule struct {
	optional              []string // optional fields, by their names in files
	least, most, leastTau int      // bounds of m and τ
}

var rules = map[Kind]rule{
	TransferCell: {[]string{"setup", "segments", "segment_bytes", "transport", "buffers"}, 1, maxSize, 1},
	NullCell:     {[]string{"setup", "segments", "transport", "buffers"}, 0, 0, 1},
	CopyCell:     {[]string{"setup"}, 1, maxSize, 1},
	OwnCell:      {nil, 1, maxSize, 1},
	OverheadCell: {[]string{"transport"}, 0, maxSize, 1},
	ExchangeCell: {nil, 0, maxSize, 1},
	PRTTCell:     {[]string{"variant", "n", "delay_ns"}, 0, maxSize, 1},
	GammaCell:    {[]string{"operator"}, 1, maxSize, 0},
}

func (k *Key) check() error {
	r, known := rules[k.Kind]
	if !known { // a kind of a survey
		r = rule{[]string{"variant"}, 0, maxSize, 1}
	}
	if !known && k.Variant == nil && !slices.Contains(kinds, k.Kind) || checkSetup(string(k.Kind)) != nil {
		return fmt.Errorf("kind %.40q is unknown", k.Kind)
	}
	for _, field := range [...]struct {
		name    string
		present bool
	}{
		{"setup", k.Setup != ""}, {"operator", k.Operator != ""}, {"variant", k.Variant != nil}, {"n", k.N != 0}, {"delay_ns", k.Delay != 0},
		{"segments", k.Segments != 0}, {"segment_bytes", k.SegmentBytes != 0}, {"transport", k.Transport != InSegments}, {"buffers", k.Buffers != Rewritten},
	} {
		if field.present && !slices.Contains(r.optional, field.name) {
			return fmt.Errorf("kind %s has no %s", k.Kind, field.name)
		}
	}
	switch {
	case k.Transport != InSegments && checkSetup(string(k.Transport)) != nil:
		return fmt.Errorf("%.40q is no transport; want a name in small letters like cma", string(k.Transport))
	case k.Buffers != Rewritten && k.Buffers != Unchanged && k.Buffers != Copied:
		return fmt.Errorf("buffers are %.40q; want unchanged or copied, or none where they are rewritten", string(k.Buffers))
	}
	var err error
	switch {
	case !known:
		err = k.checkVariant()
	case k.Kind == PRTTCell && k.Variant != nil && k.Variant != Receiver:
		err = fmt.Errorf("variant %.40q of a round trip; want %s, or none", k.Variant, Receiver)
	case k.Kind == PRTTCell:
		err = cmp.Or(limited("n", k.N, 1, maxCount), limited("delay_ns", k.Delay, 0, maxCount))
	case k.Kind == GammaCell:
		err = checkOperator(k.Operator)
	case k.Kind == TransferCell, k.Kind == NullCell, k.Setup != "":
		err = checkSetup(k.Setup)
	}
	return cmp.Or(err, limited("segments", k.Segments, 0, maxSize), limited("segment_bytes", k.SegmentBytes, 0, maxSize),
		limited("τ", k.Tau, r.leastTau, maxCount), limited("m", k.Bytes, r.least, r.most), checkPolicy(k.Placement))
}

// checkSetup accepts any valid name: package setups knows the setups.
func checkSetup(name string) error {
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-' }
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("%.40q is no setup; want a name in small letters like ring", name)
	}
	return nil
}

func checkPolicy(policy numa.Policy) error {
	if policy == numa.List || policy == Published || slices.Contains(numa.Policies, policy) {
		return nil
	}
	return fmt.Errorf("placement %.40q is unknown", policy)
}

// Compare orders kinds as files do: the kinds of this package come first.
func (k Kind) Compare(o Kind) int {
	return cmp.Or(rank(kinds, k)-rank(kinds, o), strings.Compare(string(k), string(o)))
}

// rank is the index of a value, of others that of the end.
func rank[T comparable](list []T, v T) int {
	if i := slices.Index(list, v); i >= 0 {
		return i
	}
	return len(list)
}

// checkVariant accepts any valid name, since a newer version may have written it.
func (k *Key) checkVariant() error {
	switch _, ok := k.Variant.(Parameter); {
	case k.Kind == NetCell && !ok:
		return fmt.Errorf("%.40q is no parameter of a network; want its name and the parameter, such as eth0:%s", k.VariantName(), NetTransfer)
	case k.Kind == ChannelCell && !ok:
		return fmt.Errorf("%.40q is no parameter of a channel; want its name and the parameter, such as same_l3:%s", k.VariantName(), ChannelMessage)
	}
	return checkWord(k.VariantName())
}

func checkWord(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-"
	if name == "" || len(name) > maxName || strings.Trim(name, letters) != "" {
		return fmt.Errorf("%.40q is no variant; want a word of letters, digits and - such as 0-2 or 4K8S", name)
	}
	return nil
}

func checkOperator(name string) error {
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return r == utf8.RuneError || !unicode.IsGraphic(r) }) {
		return fmt.Errorf("%.40q is no operator; want a name like SUM_I", name)
	}
	return nil
}

func (c *Cell) check() error {
	if err := c.Key.check(); err != nil {
		return err
	}
	if c.Kind != TransferCell && (c.K != 0 || c.Transfers != 0) {
		return fmt.Errorf("kind %s has neither k nor transfers", c.Kind)
	}
	if c.K < 0 || c.K > maxSize || c.Transfers < 0 || c.Transfers > maxCount {
		return fmt.Errorf("k is %d, transfers %d; want none or whole numbers from 1", c.K, c.Transfers)
	}
	t := c.Time
	if err := checkNs(t.Center); err != nil {
		return err
	}
	if !(t.Lo <= t.Center && t.Center <= t.Hi) || t.Hi > maxNs && !math.IsInf(t.Hi, 1) || t.Lo < 0 && !math.IsInf(t.Lo, -1) {
		return fmt.Errorf("%g … %g is no interval round %g", t.Lo, t.Hi, t.Center)
	}
	if t.N < 0 || t.N > maxCount || t.Sessions < 0 || t.Sessions > t.N {
		return fmt.Errorf("%d samples of %d sessions", t.N, t.Sessions)
	}
	for _, s := range c.Samples {
		if err := s.check(); err != nil {
			return fmt.Errorf("sample: %w", err)
		}
	}
	// The centre must not contradict the samples, which have five digits: either may have been changed.
	const rounded = 1e-4
	least, most := extremes(c.Samples)
	if len(c.Samples) > 0 && (t.Center < least*(1-rounded) || t.Center > most*(1+rounded)) {
		return fmt.Errorf("its time is %g ns, and its samples are %g … %g", t.Center, least, most)
	}
	return nil
}

func checkNs(ns float64) error {
	if !(ns >= 0 && ns <= maxNs) || math.Signbit(ns) {
		return fmt.Errorf("%g is no time in ns; want 0 … %g", ns, float64(maxNs))
	}
	return nil
}
