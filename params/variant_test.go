package params

import (
	"encoding/json"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/strided"
)

var variantTexts = []struct {
	kind Kind
	text string
	want Variant
}{
	{PairCell, "0-2", PairOf(2, 0, UnknownHome)}, {PairCell, "7-128", PairKey{7, 128, UnknownHome}}, {PairCell, "0-2-writer", PairOf(0, 2, WriterHome)},
	{PairCell, "0-2-", Name("0-2-")}, {PairCell, "0-2-nobody", Name("0-2-nobody")}, {PairCell, "0-writer-2", Name("0-writer-2")}, {PairCell, "2-0", Name("2-0")},
	{PairCell, "1-1", Name("1-1")}, {PairCell, "0", Name("0")}, {PairCell, "00-2", Name("00-2")}, {PairCell, "0-+2", Name("0-+2")}, {PairCell, "-1-2", Name("-1-2")},
	{PairCell, "0-99999999999999999999", Name("0-99999999999999999999")}, {PairCell, "4K8S", Name("4K8S")},
	{PackCell, "4K8S", Packed{strided.Message{Bytes: 4096, Stride: 8, Element: 4}, ""}}, {PackCell, "4K8S-L3", Packed{strided.Message{Bytes: 4096, Stride: 8, Element: 4}, "L3"}},
	{PackCell, "4096B8S", Name("4096B8S")}, {PackCell, "0-2", Name("0-2")},
	{AccessCell, "read-int32-16", Access{"read", "int32", 16}}, {AccessCell, "read-int32-016", Name("read-int32-016")}, {AccessCell, "read-int32--1", Name("read-int32--1")},
	{AccessCell, "multiply-float32-99999999999999999999", Name("multiply-float32-99999999999999999999")},
	{LoadedCell, "pair-0", Load{LoadedPair, 0, false}}, {LoadedCell, "rate-read-25", Load{LoadedRead, 25, true}}, {LoadedCell, "rate-rate-read-5", Name("rate-rate-read-5")},
	{NetCell, "eth0:L", Parameter{"eth0", "L", 0}}, {NetCell, "eth0:L-2", Parameter{"eth0", "L", 2}}, {NetCell, "eth0:L-02", Parameter{"eth0", "L-02", 0}}, {NetCell, "eth0", Name("eth0")},
	{ChannelCell, "same_l3:fanout", Parameter{"same_l3", ChannelFanout, 0}},
	{MessageCell, "segmented", Segmented}, {"of a newer version", "a-b", Name("a-b")}, {NullCell, "", nil},
}

// Texts that are no variant of their kind are Names, and every variant is written as it was read.
func TestNamed(t *testing.T) {
	for _, tt := range variantTexts {
		k := Key{Kind: tt.kind}.Named(tt.text)
		check.Equal(t, k.Variant, tt.want, "%s %q", tt.kind, tt.text)
		check.Equal(t, k.VariantName(), tt.text, "%s: written", tt.kind)
		var again Key
		must.Do(json.Unmarshal(must.Get(json.Marshal(k)), &again))
		check.Equal(t, again, k, "%s, written and read", k)
	}
}

func FuzzNamed(f *testing.F) {
	for _, tt := range variantTexts {
		f.Add(string(tt.kind), tt.text)
	}
	f.Fuzz(func(t *testing.T, kind, text string) {
		k := Key{Kind: Kind(kind)}.Named(text)
		check.Equal(t, k.VariantName(), text, "%#v", k.Variant)
	})
}
