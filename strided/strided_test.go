package strided

import (
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

// The messages of mlognp-2009, section IV, and what extends the notation.
func TestParse(t *testing.T) {
	try := func(text string, want Message, back string) {
		t.Helper()
		got := must.Get(Parse(text))
		check.True(t, got == want && got.String() == back, "%s: %+v, written %s; want %+v, %s", text, got, got, want, back)
	}
	try("1K8S", Message{1 << 10, 8, 4}, "1K8S")
	try("4K8S", Message{4 << 10, 8, 4}, "4K8S")
	try("16K512S", Message{16 << 10, 512, 4}, "16K512S")
	try("4k64s", Message{4 << 10, 64, 4}, "4K64S")
	try("1024K8S", Message{1 << 20, 8, 4}, "1M8S")
	try("96B8S", Message{96, 8, 4}, "96B8S")
	try("4K4S", Message{4 << 10, 4, 4}, "4K4S")
	try("4K64S8E", Message{4 << 10, 64, 8}, "4K64S8E")
	try("4K64S4E", Message{4 << 10, 64, 4}, "4K64S")
	for _, large := range []Message{{4, 1<<30 + 4, 4}, {1<<30 + 4, 4, 4}} { // which Parse does not read back
		contains.Error(t, large.Check(), "at the most")
	}
	for text, want := range map[string]string{
		"": "4K8S", "S": "unit", "4K": "4K8S", "K8S": "4K8S", "4K8": "4K8S", "48S": "no unit", "4K-8S": "4K8S",
		"4K8S8": "4K8S", "4K+8S": "4K8S", "4K8S0E": "4K8S", "4K2S": "overlap", "2B8S": "smaller than an element",
		"6B8S": "whole number", "4K6S": "multiple", "99999999999999999999K8S": "4K8S", "4K99999999999999999999S": "4K8S",
		"2000000M8S": "4K8S",
	} {
		contains.Error(t, must.Err(Parse(text)), want)
	}
}

// What was packed and unpacked is where it was, and nothing else was touched.
func TestPackUnpack(t *testing.T) {
	for _, text := range []string{"1K4S", "1K8S", "96B12S", "64B64S1E", "96B96S16E", "256B16S8E", "96B12S12E"} {
		m := must.Get(Parse(text))
		src, packed, dst := make([]byte, m.Span()), make([]byte, m.Bytes), make([]byte, m.Span())
		for i := range src {
			src[i] = byte(i*7 + i>>8 + 1)
		}
		m.Pack(packed, src)
		m.Unpack(dst, packed)
		var want []byte
		for i := range src {
			if i%m.Stride < m.Element {
				want = append(want, src[i])
			} else {
				src[i] = 0 // between elements nothing is written
			}
		}
		check.Slices(t, dst, src, "%s, packed and unpacked", text)
		check.Slices(t, packed, want, "%s, packed element after element", text)
	}
}
