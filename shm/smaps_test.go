package shm

import (
	_ "embed"
	"os"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
)

//go:embed testdata/smaps.txt
var smaps string // part of the test program, which virtual machines run without its folder

func TestHugeBytes(t *testing.T) {
	const MB = 1 << 20
	try := func(begin, end uint64, want int) {
		t.Helper()
		check.Equal(t, must.Get(hugeBytes(strings.NewReader(smaps), begin, end)), want, "%x-%x: bytes", begin, end)
	}
	try(0x7f0000000000, 0x7f0000400000, 2*MB)
	try(0x7f0000000000, 0x7f0000200000, 1*MB) // half of a mapping: its share
	try(0x7f0001000000, 0x7f0001800000, 8*MB)
	try(0x7f0001400000, 0x7f0001800000, 4*MB)
	try(0x7f0000400000, 0x7f0001000000, 0)
	try(0x7e0000000000, 0x7fffffffffff, 10*MB)
}

// The kernel's numbers for real memory stay within its size.
func TestRegionHugeBytes(t *testing.T) {
	skip.If(t, !Supported, "needs Linux")
	r := must.Get(MapPrivate(16 << 20))
	defer r.Close()
	skip.Error(t, r.Pages(true))
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
		n, err := hugeBytes(strings.NewReader(text), begin, end)
		check.True(t, err != nil || n >= 0, "%d bytes", n)
	})
}
