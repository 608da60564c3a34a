package sweep

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

func TestTaus(t *testing.T) {
	for _, tt := range []struct {
		cores int
		want  string
	}{
		{1, "[1]"}, {2, "[1 2]"}, {8, "[1 2 3 4 5 6 7 8]"}, {16, "[1 2 3 4 5 6 7 8 12 16]"},
		{256, "[1 2 3 4 5 6 7 8 12 18 27 40 60 90 135 202 256]"},
	} {
		if got := fmt.Sprint(Taus(tt.cores)); got != tt.want {
			t.Errorf("%d cores: %s, want %s", tt.cores, got, tt.want)
		}
	}
}

// The plan of the paper's scale: every cell once, and each can be measured.
func TestKeys(t *testing.T) {
	p := params.Plan{Setups: []string{"ring", "ping"}, Policies: []numa.Policy{numa.Local, numa.Spread}, Sizes: Sizes,
		Taus: []int{1, 2, 3}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false, true}}
	ks := keys(p, 4)
	seen := make(map[params.Key]bool)
	count := make(map[params.Kind]int)
	for _, k := range ks {
		if seen[k] {
			t.Errorf("twice: %+v", k)
		}
		seen[k] = true
		count[k.Kind]++
		tr, factor, err := trial(p, k)
		if err != nil || factor <= 0 || factor > 1 || tr.Segments < 1 || tr.K < 1 ||
			tr.Bytes > tr.K*tr.SegmentBytes || tr.Bytes <= (tr.K-1)*tr.SegmentBytes && k.Bytes > 0 {
			t.Errorf("%+v: trial %+v, factor %g, %v", k, tr, factor, err)
		}
	}
	// Two placements, two states of the cache, 30 sizes: ring at three τ, ping at
	// one, lone; copies at three τ.
	for kind, want := range map[params.Kind]int{
		params.TransferCell: 2 * 2 * 30 * (3 + 1 + 1),
		params.NullCell:     2 * (3 + 1 + 1),
		params.CopyCell:     2 * 2 * 30 * 3,
		params.OverheadCell: 1,
		params.GammaCell:    3 * 18 * 30,
	} {
		if count[kind] != want {
			t.Errorf("%d cells of kind %s, want %d", count[kind], kind, want)
		}
	}
	if n := len(keys(p, 1)); n != len(ks)-2*(2*30+1) {
		t.Errorf("on one CPU %d cells of %d: lone needs two", n, len(ks))
	}
}

// A small sweep has every cell, with the samples that its centre is made of; a
// second one over the same file measures nothing that is there.
func TestSweep(t *testing.T) {
	if !shm.Supported {
		t.Skip("measuring needs Linux")
	}
	m, err := numa.Discover("/")
	if err != nil {
		t.Fatal(err)
	}
	f := &params.File{Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Sizes: []int{64, 8192, 20000},
		Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false, true}, CacheBytes: 1 << 20, Budget: 60, Width: 0.9, NoGamma: true}}
	saves := 0
	s := &Sweep{File: f, Machine: m, Save: func(*params.File) error { saves++; return nil }}
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := len(keys(f.Plan, m.Allowed.Len())); len(f.Cells) != want || !f.Complete || saves < 2 {
		t.Errorf("%d cells of %d, complete %v, %d saves", len(f.Cells), want, f.Complete, saves)
	}
	for _, c := range f.Cells {
		if len(c.Samples) < setups.LeastTrials || !(c.Time.Center > 0) || c.Time.N != len(c.Samples) ||
			c.Time.Center < slices.Min(c.Samples) || c.Time.Center > slices.Max(c.Samples) {
			t.Errorf("%+v: %v of %v", c.Key, c.Time, c.Samples)
		}
		if c.Kind == params.TransferCell && c.Bytes == 20000 && (c.K != 3 || c.Transfers != 2) {
			t.Errorf("%+v: k = %d, %d transfers", c.Key, c.K, c.Transfers)
		}
	}
	before := fmt.Sprint(f.Cells)
	again := &Sweep{File: f, Machine: m, Save: s.Save, Report: func(p Progress) { t.Errorf("visits %+v again", p.Cell) }}
	if err := again.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(f.Cells) != before {
		t.Error("the second sweep changed the cells")
	}
}

// An arena is not mapped when that would take longer than what is left; what is
// mapped, and what is in cache, takes no time.
func TestMapping(t *testing.T) {
	team := &setups.Team{}
	off := &job{key: params.Key{OffCache: true}, cell: &setups.Cell{}, site: site{numa.Local, 2}}
	off.cell.Trial.ArenaBytes = 1 << 30
	in := &job{cell: off.cell, site: off.site}
	s := Sweep{teams: map[site]*setups.Team{off.site: team}, arenas: map[arenas]int64{}}
	if got := s.mapping(off); got < 2*time.Second || got > 3*time.Second {
		t.Errorf("an arena of 2 GB takes %v, want a second for 1e9 bytes", got)
	}
	if got := s.mapping(in); got != 0 {
		t.Errorf("in cache %v", got)
	}
	s.arenas[arenas{team, false}] = 2 << 30
	if got := s.mapping(off); got != 0 {
		t.Errorf("an arena that is there takes %v", got)
	}
}
