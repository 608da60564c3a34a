package sweep

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/shm"
)

func TestParseWith(t *testing.T) {
	for list, want := range map[string]string{"": "", "copy": "copy", "pack, copy,pack": "pack copy"} {
		if got, err := ParseWith(list); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %v, %v", list, got, err)
		}
	}
	for _, list := range []string{"kopy", "copy,", ","} {
		if _, err := ParseWith(list); err == nil || !strings.Contains(err.Error(), "copy, pack") {
			t.Errorf("%q: %v", list, err)
		}
	}
}

// Pairs of many cores have the time that they need, and others keep theirs.
func TestDefaultTime(t *testing.T) {
	machine := func(cores int) *numa.Machine {
		m := &numa.Machine{}
		for i := range cores {
			m.CPUs, m.Allowed = append(m.CPUs, numa.CPU{ID: i, Core: i}), append(m.Allowed, i)
		}
		return m
	}
	for _, tt := range []struct {
		cores int
		with  []string
		want  time.Duration
	}{
		{2, nil, 60 * time.Second},
		{2, []string{"pairs", "copy", "pack", "access"}, 120 * time.Second},
		{2, []string{"of a newer version"}, 60 * time.Second},
		{128, []string{"copy"}, 75 * time.Second},
		{128, []string{"copy", "pairs"}, 75*time.Second + 8128*13*time.Millisecond},
	} {
		m := machine(tt.cores)
		if got := DefaultTime(tt.with, m); got != tt.want {
			t.Errorf("%d cores, %v: %v, want %v", tt.cores, tt.with, got, tt.want)
		}
		s := Sweep{Machine: m, File: &params.File{Plan: params.Plan{With: tt.with, Budget: 2 * tt.want.Seconds()}}}
		if got := s.budget() - s.reserved(); (got - 2*time.Minute).Abs() > time.Millisecond {
			t.Errorf("%d cores, %v: of twice the time transfers have %v, want two minutes", tt.cores, tt.with, got)
		}
	}
}

// What is measured beside is in the file, also if the sweep was interrupted in the
// middle of it, and a resumed one goes on with its samples; only then is the file
// complete.
func TestBesideIsResumed(t *testing.T) {
	if !shm.Supported {
		t.Skip("measuring needs Linux")
	}
	m, err := numa.Discover("/")
	if err != nil {
		t.Fatal(err)
	}
	cell := func(variant string, samples ...float64) params.Cell {
		return params.Cell{Key: params.Key{Kind: params.LevelCell, Placement: numa.Local, Tau: 1, Bytes: 64, Variant: variant},
			Time: fit.Median(samples), Samples: samples}
	}
	interrupted := errors.New("stopped")
	var had [][]params.Cell
	fake := besides["copy"]
	fake.measure = func(_ context.Context, _ params.Plan, _ *numa.Machine, budget time.Duration, have []params.Cell, add func(params.Cell) error) (int, []error, error) {
		if budget <= 0 {
			t.Errorf("a budget of %v", budget)
		}
		have = slices.DeleteFunc(slices.Clone(have), func(c params.Cell) bool { return c.Kind != params.LevelCell })
		switch had = append(had, have); len(had) {
		case 1:
			add(cell("L1-L1", 1, 2, 3))
			return 2, nil, interrupted
		case 2:
			add(cell("L1-L1", 1, 2, 3, 4, 5, 6))
			add(cell("L1-L2", 7))
			return 1, []error{errors.New("the fake is slow")}, nil
		}
		add(cell("L1-L2", 7, 8, 9, 10, 11, 12))
		return 0, nil, nil
	}
	besides["fake"] = fake
	defer delete(besides, "fake")
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Sizes: []int{64},
		Taus: []int{1}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}, Budget: 60, Width: 0.9, NoGamma: true, With: []string{"fake"}}}
	var saved *params.File
	run := func() error {
		s := Sweep{File: f, Machine: m, Save: func(f *params.File) error {
			copied := *f
			copied.Cells = slices.Clone(f.Cells)
			saved = &copied
			return f.Validate()
		}}
		return s.Run(context.Background())
	}
	transfers := 0
	for i, want := range []struct {
		err      error
		levels   int
		samples  int // of L1-L1
		complete bool
	}{{interrupted, 1, 3, false}, {nil, 2, 6, false}, {nil, 2, 6, true}} {
		if err := run(); !errors.Is(err, want.err) {
			t.Fatalf("run %d: %v", i, err)
		}
		levels := 0
		for _, c := range saved.Cells {
			if c.Kind == params.LevelCell {
				levels++
			}
			if c.Variant == "L1-L1" && len(c.Samples) != want.samples {
				t.Errorf("run %d: %d samples", i, len(c.Samples))
			}
		}
		if n := len(saved.Cells) - levels; i == 0 {
			transfers = n
		} else if n != transfers {
			t.Errorf("run %d: %d other cells, had %d", i, n, transfers)
		}
		if levels != want.levels || saved.Complete != want.complete {
			t.Errorf("run %d: %d cells beside, complete %v", i, levels, saved.Complete)
		}
		f = saved
	}
	if len(had) != 3 || len(had[0]) != 0 || len(had[1]) != 1 || len(had[2]) != 2 {
		t.Errorf("resumed with %v", had)
	}
	if !slices.Contains(saved.Warnings, "the fake is slow") {
		t.Errorf("warnings: %q", saved.Warnings)
	}
}

// What a file lacked is no longer true of a resumed sweep; other warnings are.
func TestLacking(t *testing.T) {
	for warning, want := range map[string]bool{
		"432 cells of access have too few samples for an interval: go on with -resume, or allow more with -budget": true,
		"2 of 6 pairs were not measured: allow more with -time":                                                    true,
		"6 % of the batches took more than 1.5 times their median: something else runs on these CPUs":              false,
	} {
		if Lacking(warning) != want {
			t.Errorf("%s: %t", warning, !want)
		}
	}
}
