package shm

import (
	_ "embed"
	"os"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

//go:embed testdata/smaps.txt
var smaps string // part of the test program, which virtual machines run without its folder

func TestHugeBytes(t *testing.T) {
	const MB = 1 << 20
	for _, tt := range []struct {
		begin, end uint64
		want       int
	}{
		{0x7f0000000000, 0x7f0000400000, 2 * MB},
		{0x7f0000000000, 0x7f0000200000, 1 * MB}, // half of a mapping: its share
		{0x7f0001000000, 0x7f0001800000, 8 * MB},
		{0x7f0001400000, 0x7f0001800000, 4 * MB},
		{0x7f0000400000, 0x7f0001000000, 0},
		{0x7e0000000000, 0x7fffffffffff, 10 * MB},
	} {
		got := must.Get(hugeBytes(strings.NewReader(smaps), tt.begin, tt.end))
		check.Equal(t, got, tt.want, "%x-%x: bytes", tt.begin, tt.end)
	}
}

// The kernel's numbers for real memory stay within its size.
func TestRegionHugeBytes(t *testing.T) {
	if !Supported {
		t.Skip("needs Linux")
	}
	r := must.Get(MapPrivate(16 << 20))
	defer r.Close()
	if err := r.Pages(true); err != nil {
		t.Skip(err)
	}
	clear(r.Bytes())
	n, err := r.HugeBytes()
	check.True(t, err == nil && n >= 0 && n <= 16<<20, "%d of %d bytes in huge pages, %v", n, 16<<20, err)
}

func FuzzHugeBytes(f *testing.F) {
	f.Add(smaps, uint64(0x7f0000000000), uint64(0x7f0001800000))
	if own, err := os.ReadFile("/proc/self/smaps"); err == nil {
		f.Add(string(own), uint64(0), ^uint64(0))
	}
	f.Fuzz(func(t *testing.T, text string, begin, end uint64) {
		if end < begin {
			return
		}
		if n, err := hugeBytes(strings.NewReader(text), begin, end); err == nil && n < 0 {
			t.Errorf("%d bytes", n)
		}
	})
}
