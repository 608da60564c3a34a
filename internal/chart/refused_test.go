package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// What cannot be drawn is refused in one line, which says what the file has.
func TestRefused(t *testing.T) {
	vm, one := swept("vm", []string{"ring"}, []numa.Policy{numa.Local}, 1, 2), swept("one", []string{"ring"}, []numa.Policy{numa.Local}, 1)
	metropolis := fromText("metropolis", []int{64, 8192}, metropolis8K...)
	a, b := surveyed("a", []int{1024, 4096}, 2, 8), surveyed("b", []int{1024}, 2)
	reads := without("only", func(c params.Cell) bool { return strings.HasPrefix(c.VariantName(), "write") })
	var all []int
	for n := 1; n <= 1<<MaxPanels; n *= 2 {
		all = append(all, n)
	}
	var five []compare.Machine
	for i := range 5 {
		five = append(five, surveyed(fmt.Sprint("node", i), []int{1024}, 2))
	}
	v, cost := verified("message", "bcast:binomial", "bcast:linear"), costs("a")
	of := func(machines ...compare.Machine) []compare.Machine { return machines }
	only := func(ch compare.Choice) Choice { return Choice{Choice: ch} }
	sizes := func(ms ...int) Choice { return only(compare.Choice{Sizes: ms}) }
	words := func(words ...string) Choice { return Choice{Variants: words} }
	algorithms := func(names ...string) Choice { return Choice{Algorithms: names} }
	for _, tt := range []struct {
		what string
		make func() (*Chart, error)
		want string
	}{
		{"no file", on(TransfersOverTau, nil, Choice{}), "no file"},
		{"one τ", on(TransfersOverTau, of(one), Choice{}), "a line over τ needs two values"},
		{"one τ chosen", on(Concurrency, of(vm), Choice{Taus: []int{2}}), "a line over τ needs two values"},
		{"no such τ", on(TransfersOverSize, of(vm), Choice{Taus: []int{9}}), "vm has no transfers of τ = 9: it has 1, 2"},
		{"no such setup", on(TransfersOverTau, of(vm), only(compare.Choice{Setups: []string{"ping"}})), "vm has no transfers, setup ping: it has ring, placement local, in cache; ring"},
		{"no such placement", on(Copies, of(vm), only(compare.Choice{Placements: []numa.Policy{numa.Remote}})), "vm has no copies, placement remote: it has copy, placement local, in cache"},
		{"no such size", on(TransfersOverTau, of(vm), sizes(9000)), "vm has no transfers of m = 9000: it has 1, 64, 8K, 1M"},
		{"published has no c", on(Copies, of(metropolis), Choice{}), "metropolis has no copies: measure them with taulop sweep, or"},
		{"a ratio of one", on(Ratios, of(vm), Choice{}), "two machines"},
		{"a ratio of different caches", on(Ratios, of(vm, metropolis), Choice{}), "metropolis has nothing in common with vm"},
		{"published", on(packs, of(metropolis), Choice{}), "metropolis has no strided messages: measure them with taulop pack"},
		{"an unknown word", on(accesses, of(a), words("float65")), `no accesses are called "float65"; known are int32, float64; N = 1K, N = 4K; read, write`},
		{"many names", on(patterns, of(a), words("gather")), "permutation-1, permutation-2, "},
		{"a word that one does not have", on(accesses, of(a, reads), words("write")), "only has no accesses called write: it has int32, float64; N = 1K; read"},
		{"no such placement", on(accesses, of(a), only(compare.Choice{Placements: []numa.Policy{numa.Remote}})), "a has no accesses, placement remote: it has placement local, in cache; placement local, off cache"},
		{"placement of a disk", on(disks, of(a), only(compare.Choice{Placements: []numa.Policy{numa.Local}})), "do not differ in where workers are placed"},
		{"sizes of accesses", on(accesses, of(a), sizes(4096)), "accesses do not differ in the size of messages: choose by their names"},
		{"no such size", on(packs, of(a), sizes(5<<10)), "a has no strided messages of m = 5K: it has 4K, 64K"},
		{"one size", on(disks, of(a), sizes(4096)), "a line over m needs two values"},
		{"no such P", on(patterns, of(a, b), Choice{P: 8}), "b has no message patterns of P = 8: it has 2"},
		{"a page of panels", on(accesses, of(surveyed("many", all, 2)), words("N=1", "N=2", "N=3", "N=4", "N=5", "N=6", "N=8")), "20 panels in a chart are too many, 9 can be read"},
		{"too many lines", on(accesses, five, only(compare.Choice{Caches: []bool{false, true}})), "20 lines in a chart cannot be told apart, 16 can: draw fewer"},
		{"another algorithm", on(Predictions, v, algorithms("gather")), "gather was not verified: there are message, bcast:binomial, bcast:linear"},
		{"another P", on(Predictions, v, Choice{P: 3}), "it was with P = 4"},
		{"one size verified", on(Predictions, v, sizes(1024)), "two sizes"},
		{"two caches", on(Predictions, v, only(compare.Choice{Caches: []bool{false, true}})), "one state of the cache"},
		{"two algorithms", on(Predictions, v, algorithms("message", "bcast:linear")), "one algorithm"},
		{"one size predicted", on(Costs, cost, Choice{Algorithms: []string{"bcast:linear"}, Choice: compare.Choice{Sizes: []int{1 << 10}}}), "two sizes"},
		{"one P", on(Published, against(64), Choice{}), "each collective has one: allreduce, mapping core, has P = 8; bcast, mapping core, has P = 64: choose others"},
		{"too many CPUs", on(pairs, grouped(MaxHeat+1), Choice{}), "1025 CPUs are too many for a heat map, which has up to 1024"},
		{"another size of pairs", on(pairs, grouped(2), sizes(64)), "the file has no pairs with m = 64: it has 0, 8K"},
	} {
		c, err := tt.make()
		contains.Error(t, err, tt.want)
		check.True(t, c == nil, "%s: a chart beside an error", tt.what)
	}
}

// on is a chart of data, drawn when called.
func on[D any](draw func(D, Choice) (*Chart, error), data D, ch Choice) func() (*Chart, error) {
	return func() (*Chart, error) { return draw(data, ch) }
}

func pairs(all []view.Matrix, ch Choice) (*Chart, error) { return HeatMaps("host", all, ch) }

// without is a machine with surveys, but without some cells.
func without(name string, some func(params.Cell) bool) compare.Machine {
	m := surveyed(name, []int{1024}, 2)
	m.File.Cells = slices.DeleteFunc(m.File.Cells, some)
	return m
}
