package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey/strides"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/strided"
)

const packHelp = `Pack measures strided messages: p(m,d), what it takes to pack
or unpack m bytes of elements d bytes apart, and for each level of the machine one
way between two CPUs: o_mw contiguous, and l_mw, what the stride adds.

  taulop pack [flags] [MESSAGE ...]

A message is written as in the papers on log_nP: 4K8S are 4 KB at a stride of 8
bytes, of elements of 4 bytes. Each size is measured contiguous too. Without
messages it takes all sizes of -m at all strides of -d.

Examples:
  taulop pack                          1K8S to 64K512S, in ten seconds
  taulop pack -cpus 0,3 4K8S 16K512S   two messages, between two CPUs
  taulop pack -element 8 -d 8,4096 -array 64M -m 64K
  taulop pack -o pack.json             a parameter file

Flags:
`

func packCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	var (
		req                                     = surveyRequest{name: "pack", takes: true}
		flags                                   = req.flags(10*time.Second, "")
		sizes, ds, element, array, cpus, caches string
	)
	flags.StringVar(&sizes, "m", "1K,4K,16K,64K", "bytes of data, a `list` like 64,8K,1M with doubling ranges: 1K:1M")
	flags.StringVar(&ds, "d", "8,64,512", "strides in bytes, from element to element, a `list`")
	flags.StringVar(&element, "element", "4", "`size` of an element")
	flags.StringVar(&array, "array", "16M", "`size` of the array that messages lie in")
	flags.StringVar(&cpus, "cpus", "", "between these two CPUs alone, a `list` like 0,2 (default a pair of each level)")
	flags.StringVar(&caches, "cache", "in", "`list` of where user buffers are: in, off")
	machine, err := req.parse(flags, out, args, packHelp)
	if err != nil {
		return err
	}
	if err := argument.FitsMemory("-array", array); err != nil {
		return usageError(err.Error())
	}
	packs := strides.Request{Segments: 2, SegmentBytes: 8 << 10}
	if packs.Messages, err = packMessages(req.words, sizes, ds, element, array); err != nil {
		return err
	}
	if packs.Caches, err = argument.Caches(caches); err != nil {
		return usageError(err.Error())
	}
	if packs.Pairs = strides.Pairs(machine); cpus != "" {
		two, err := numa.ParseOrder(cpus)
		if err != nil {
			return usagef("-cpus: %v", err)
		}
		if len(two) != 2 || two[0] == two[1] {
			return usagef("-cpus %s: name two different CPUs, like 0,2", cpus)
		}
		if _, err := machine.PlaceOn(two, 2); err != nil {
			return usagef("-cpus: %v", err)
		}
		packs.Pairs = []strides.Pair{strides.PairOf(machine, two[0], two[1])}
	}
	if packs, err = strides.NewRequest(packs); err != nil {
		return usageError(err.Error())
	}
	var sized []int
	for _, m := range packs.Messages {
		sized = append(sized, m.Bytes)
	}
	slices.Sort(sized)
	return req.measure(ctx, out, errOut, machine, task{
		survey: strides.Survey, request: packs, document: asTables(report.WritePacks),
		plan: params.Plan{Policies: []numa.Policy{numa.Local}, Sizes: slices.Compact(sized), Taus: []int{1}, Segments: packs.Segments,
			SegmentBytes: packs.SegmentBytes, Caches: packs.Caches},
	})
}

// packMessages are those that are named, each contiguous too, or all of lists.
func packMessages(words []string, sizes, distances, element, array string) ([]strided.Message, error) {
	most, err := argument.Bytes(array)
	if err != nil || most < 1 {
		return nil, usagef("-array is %q: give the size of the array, like 16M", array)
	}
	of, err := argument.Bytes(element)
	if err != nil || of < 1 {
		return nil, usagef("-element is %q: give the size of an element in bytes, like 4 or 8", element)
	}
	if len(words) == 0 {
		ms, err := argument.List(sizes, false, argument.Some)
		if err != nil {
			return nil, usagef("-m: %v", err)
		}
		ds, err := argument.List(distances, false, argument.Some)
		if err != nil {
			return nil, usagef("-d: %v", err)
		}
		messages, err := strides.Messages(ms, ds, of, most)
		if err != nil {
			return nil, usageError(err.Error())
		}
		return messages, nil
	}
	var messages []strided.Message
	for _, word := range words {
		if strings.HasPrefix(word, "-") {
			return nil, usagef("flags go before messages: move %s to the front", word)
		}
		m, err := strided.Parse(word)
		if err != nil {
			return nil, usageError(err.Error())
		}
		both, err := strides.Messages([]int{m.Bytes}, []int{m.Stride}, m.Element, most)
		if err != nil {
			return nil, usageError(err.Error())
		}
		for _, m := range both {
			if !slices.Contains(messages, m) {
				messages = append(messages, m)
			}
		}
	}
	return messages, nil
}
