package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Choice restricts which curves are compared. An empty field restricts nothing, but without Sizes
// messages have a segment's size.
type Choice struct {
	Setups     []string
	Placements []numa.Policy
	Caches     []bool // off cache
	Sizes      []int
	Test       *Test // nil: DefaultLeast
}

// Advice for machines that have nothing in common.
var (
	ErrChoice    = errors.New("choose others, or sweep both alike")
	ErrSize      = errors.New("leave it out, or sweep it")
	ErrPublished = errors.New("published files do not say how they were measured: take them for a setup")
)

// Offers are the curves of a machine.
type offers struct {
	machine string
	curves  []Curve
}

// sharing are the machines that have a chosen channel or a cell of a survey in common with another one;
// all if fewer than two have.
func (choice Choice) sharing(machines []Machine) []Machine {
	contents := lists.Map(machines, func(m Machine) []params.Key {
		var keys []params.Key
		for _, c := range m.File.Cells {
			switch channel := (Channel{c.Setup, c.Placement, c.OffCache, c.Bytes}); {
			case ofSurvey(c) && choice.surveyed(c.Key):
				keys = append(keys, c.Key)
			case c.Kind == params.TransferCell && c.Setup != params.Isolated && choice.admits(channel):
				keys = append(keys, channel.Key(0))
			}
		}
		return lists.Unique(keys)
	})
	owners := lists.Counts(slices.Concat(contents...), func(k params.Key) params.Key { return k })
	var some []Machine
	for i, m := range machines {
		if slices.ContainsFunc(contents[i], func(k params.Key) bool { return owners[k] > 1 }) {
			some = append(some, m)
		}
	}
	if len(some) < 2 {
		return machines
	}
	return some
}

// common are the chosen channels that at least two machines have. without is why some machine has no
// curves. If surveys can be compared and the choice restricts nothing, a lack of channels is no error but
// the warning why.
func (choice Choice) common(all []offers, without error, surveys bool) (channels []Channel, why, err error) {
	if without != nil && (!surveys && len(all) < 2 || len(all) == 0 && len(choice.Setups) > 0) { // no survey has a setup
		return nil, nil, without
	}
	if len(all) > 0 {
		channels, why = choice.channels(all)
	}
	if why != nil && (!surveys || choice.restricts()) {
		return nil, nil, why
	}
	return channels, why, nil
}

// restricts tells whether the choice names particular transfers.
func (choice Choice) restricts() bool {
	return len(choice.Setups)+len(choice.Placements)+len(choice.Sizes) > 0
}

// Kinds of surveys whose placement is always the same, and kinds that have no size of a message.
var (
	unplaced = []params.Kind{params.PairCell, params.LevelCell, params.LoadedCell, params.NetCell, params.ChannelCell}
	unsized  = []params.Kind{params.LoadedCell, params.AccessCell}
)

// surveyed tells whether a survey's cell is chosen, by what its kind has. Null transfers have any size.
func (choice Choice) surveyed(k params.Key) bool {
	return choice.cached(k) &&
		(len(choice.Placements) == 0 || slices.Contains(unplaced, k.Kind) || slices.Contains(choice.Placements, k.Placement)) &&
		(len(choice.Sizes) == 0 || slices.Contains(unsized, k.Kind) || k.Bytes == 0 || slices.Contains(choice.Sizes, k.Bytes))
}

// unfiltered has a sentence for each choice that some kinds of surveys shown have nothing for.
func (choice Choice) unfiltered(kinds []params.Kind) (notes []string) {
	for _, flag := range []struct {
		given bool
		what  string
		lacks func(params.Kind) bool
	}{
		{len(choice.Setups) > 0, "setup", func(params.Kind) bool { return true }},
		{len(choice.Placements) > 0, "placement", func(k params.Kind) bool { return slices.Contains(unplaced, k) }},
		{len(choice.Sizes) > 0, "message size", func(k params.Kind) bool { return slices.Contains(unsized, k) }},
	} {
		lacking := lists.Filter(lists.Unique(kinds), flag.lacks)
		if flag.given && len(lacking) > 0 {
			names := lists.Map(lacking, func(k params.Kind) string { return string(k) })
			notes = append(notes, fmt.Sprintf("Surveys that have no %s are all shown: %s.", flag.what, printable.List(names)))
		}
	}
	return notes
}

// cached tells whether a survey's cell is of the chosen caches. Where the key has no word of that, it is.
func (choice Choice) cached(k params.Key) bool {
	silent := !k.OffCache && k.Kind != params.AccessCell && slices.Contains(anywhere, k.Kind)
	return len(choice.Caches) == 0 || silent || slices.Contains(choice.Caches, k.OffCache)
}

// unshown are the sizes that at least two machines have and no channel shown has, rising.
func (choice Choice) unshown(all []offers, channels []Channel) []int {
	sizes := lists.Rising(lists.Map(shared(choice.admitted(all)), func(c Channel) int { return c.Bytes }))
	return lists.Filter(sizes, func(m int) bool {
		return !slices.ContainsFunc(channels, func(shown Channel) bool { return shown.Bytes == m })
	})
}

// shared are the channels that at least two machines have.
func shared(admitted []Curve) []Channel {
	grouped := lists.Groups(admitted, func(c Curve) Channel { return c.Channel })
	common := lists.Filter(grouped, func(of []Curve) bool { return len(of) > 1 })
	return lists.Map(common, func(of []Curve) Channel { return of[0].Channel })
}

// admitted are the chosen curves of all machines.
func (choice Choice) admitted(all []offers) []Curve {
	curves := lists.Concat(all, func(m offers) []Curve { return m.curves })
	return lists.Filter(curves, func(c Curve) bool { return choice.admits(c.Channel) })
}

// channels are the chosen channels that at least two machines have.
func (choice Choice) channels(all []offers) ([]Channel, error) {
	admitted := choice.admitted(all)
	segments := make(map[int]bool)
	for _, c := range admitted {
		segments[c.Bytes] = segments[c.Bytes] || c.Segment
	}
	chosen := shared(admitted)
	slices.SortFunc(chosen, func(a, b Channel) int {
		return cmp.Or(strings.Compare(a.Setup, b.Setup), cmp.Compare(a.Placement, b.Placement), lists.FalseFirst(a.OffCache)-lists.FalseFirst(b.OffCache), a.Bytes-b.Bytes)
	})
	if len(chosen) > 0 && len(choice.Sizes) == 0 {
		sizes := segmentSizes(chosen, segments)
		chosen = slices.DeleteFunc(chosen, func(c Channel) bool { return !slices.Contains(sizes, c.Bytes) })
	}
	if len(chosen) == 0 {
		return nil, choice.nothing(all)
	}
	for _, m := range choice.Sizes {
		if !slices.ContainsFunc(chosen, func(c Channel) bool { return c.Bytes == m }) {
			return nil, fmt.Errorf("no two machines have m = %d in common: %w", m, ErrSize)
		}
	}
	return chosen, nil
}

func (choice Choice) admits(c Channel) bool {
	return (len(choice.Setups) == 0 || slices.Contains(choice.Setups, c.Setup)) &&
		(len(choice.Placements) == 0 || slices.Contains(choice.Placements, c.Placement)) &&
		(len(choice.Caches) == 0 || slices.Contains(choice.Caches, c.OffCache)) &&
		(len(choice.Sizes) == 0 || slices.Contains(choice.Sizes, c.Bytes))
}

// Customary is the segment size of published files, which do not state it.
const Customary = 8192

// segmentSizes are the sizes of segments among common channels, else Customary, else the largest size.
func segmentSizes(common []Channel, segments map[int]bool) []int {
	sizes := lists.Unique(lists.Map(common, func(c Channel) int { return c.Bytes }))
	switch ofSegments := lists.Filter(sizes, func(m int) bool { return segments[m] }); {
	case len(ofSegments) > 0:
		return ofSegments
	case slices.Contains(sizes, Customary):
		return []int{Customary}
	}
	return []int{slices.Max(sizes)}
}

// nothing is the error of machines without a common channel, with what the first few have: setups, caches or sizes where
// no two have the chosen ones, else channels.
func (choice Choice) nothing(all []offers) error {
	lack := func(c Choice) bool {
		have := func(m offers) bool {
			return slices.ContainsFunc(m.curves, func(o Curve) bool { return c.admits(o.Channel) })
		}
		return (c.restricts() || len(c.Caches) == 1) && len(lists.Filter(all, have)) < 2
	}
	size := func(c Curve) string { return "m = " + strconv.Itoa(c.Bytes) }
	word, chosen := func(c Curve) string { return c.Channel.String() + ", " + size(c) }, ""
	switch {
	case lack(Choice{Setups: choice.Setups}):
		word, chosen = func(c Curve) string { return c.Setup }, " of setup "+printable.List(lists.Map(choice.Setups, printable.Name))
	case lack(Choice{Placements: choice.Placements}):
		word = func(c Curve) string { return "placement " + string(c.Placement) }
	case lack(Choice{Caches: choice.Caches}):
		word, chosen = func(c Curve) string { return view.Cache(c.OffCache) }, " "+view.Cache(choice.Caches[0])
	case lack(Choice{Sizes: choice.Sizes}):
		word, chosen = size, " of m = "+printable.List(lists.Map(choice.Sizes, strconv.Itoa))
	}
	const most = 3
	var offered []string
	published, measured := false, false
	for _, m := range all[:min(len(all), most)] {
		for _, c := range m.curves {
			published = published || c.Setup == params.Published
			measured = measured || c.Setup != params.Published
		}
		words := lists.Unique(lists.Map(m.curves, word))
		if len(words) > most+1 {
			words = append(words[:most:most], "…")
		}
		offered = append(offered, m.machine+" has "+strings.Join(words, "; "))
	}
	if len(all) > most {
		offered = append(offered, "…")
	}
	advice := ErrChoice
	if published && measured {
		advice = ErrPublished
	}
	return fmt.Errorf("no two machines have transfers%s in common: %s; %w", chosen, strings.Join(offered, "; "), advice)
}
