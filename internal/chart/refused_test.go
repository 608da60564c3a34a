package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// What cannot be drawn is refused in one line, which says what the file has.
func TestRefused(t *testing.T) {
	vm, one := swept("vm", []string{"ring"}, []numa.Policy{numa.Local}, 1, 2), swept("one", []string{"ring"}, []numa.Policy{numa.Local}, 1)
	metropolis := fromText("metropolis", []int{64, 8192}, metropolis8K...)
	a, b, reads := surveyed("a", []int{1024, 4096}, 2, 8), surveyed("b", []int{1024}, 2), surveyed("only", []int{1024}, 2)
	reads.File.Cells = slices.DeleteFunc(reads.File.Cells, func(c params.Cell) bool { return strings.HasPrefix(c.VariantName(), "write") })
	all := lists.Map(lists.Indices(MaxPanels+1), func(i int) int { return 1 << i })
	five := lists.Map(lists.Indices(5), func(i int) compare.Machine { return surveyed(fmt.Sprint("node", i), []int{1024}, 2) })
	v, cost := verified("message", "bcast:binomial", "bcast:linear"), costs("a")
	of := func(machines ...compare.Machine) []compare.Machine { return machines }
	only := func(ch compare.Choice) Choice { return Choice{Choice: ch} }
	sizes := func(ms ...int) Choice { return only(compare.Choice{Sizes: ms}) }
	words := func(words ...string) Choice { return Choice{Variants: words} }
	algorithms := func(names ...string) Choice { return Choice{Algorithms: names} }
	refused := func(want string) func(*Chart, error) {
		return func(c *Chart, err error) {
			t.Helper()
			contains.Error(t, err, want)
			check.True(t, c == nil, "a chart beside %v", err)
		}
	}
	refused("no file")(TransfersOverTau(nil, Choice{}))
	refused("a line over τ needs two values")(TransfersOverTau(of(one), Choice{}))
	refused("a line over τ needs two values")(Concurrency(of(vm), Choice{Taus: []int{2}}))
	refused("vm has no transfers of τ = 9: it has 1, 2")(TransfersOverSize(of(vm), Choice{Taus: []int{9}}))
	refused("vm has no transfers, setup ping: it has ring, placement local, in cache; ring")(TransfersOverTau(of(vm), only(compare.Choice{Setups: []string{"ping"}})))
	refused("vm has no copies, placement remote: it has copy, placement local, in cache")(Copies(of(vm), only(compare.Choice{Placements: []numa.Policy{numa.Remote}})))
	refused("vm has no transfers of m = 9000: it has 1, 64, 8K, 1M")(TransfersOverTau(of(vm), sizes(9000)))
	refused("metropolis has no copies: measure them with taulop sweep, or")(Copies(of(metropolis), Choice{}))
	refused("two machines")(Ratios(of(vm), Choice{}))
	refused("metropolis has nothing in common with vm")(Ratios(of(vm, metropolis), Choice{}))
	refused("metropolis has no strided messages: measure them with taulop pack")(packs(of(metropolis), Choice{}))
	refused(`no accesses are called "float65"; known are int32, float64; N = 1K, N = 4K; read, write`)(accesses(of(a), words("float65")))
	refused("permutation-1, permutation-2, ")(patterns(of(a), words("gather")))
	refused("only has no accesses called write: it has int32, float64; N = 1K; read")(accesses(of(a, reads), words("write")))
	refused("a has no accesses, placement remote: it has placement local, in cache; placement local, off cache")(accesses(of(a), only(compare.Choice{Placements: []numa.Policy{numa.Remote}})))
	refused("do not differ in where workers are placed")(disks(of(a), only(compare.Choice{Placements: []numa.Policy{numa.Local}})))
	refused("accesses do not differ in the size of messages: choose by their names")(accesses(of(a), sizes(4096)))
	refused("a has no strided messages of m = 5K: it has 4K, 64K")(packs(of(a), sizes(5<<10)))
	refused("a line over m needs two values")(disks(of(a), sizes(4096)))
	refused("b has no message patterns of P = 8: it has 2")(patterns(of(a, b), Choice{P: 8}))
	refused("20 panels in a chart are too many, 9 can be read")(accesses(of(surveyed("many", all, 2)), words("N=1", "N=2", "N=3", "N=4", "N=5", "N=6", "N=8")))
	refused("20 lines in a chart cannot be told apart, 16 can: draw fewer")(accesses(five, only(compare.Choice{Caches: []bool{false, true}})))
	refused("gather was not verified: there are message, bcast:binomial, bcast:linear")(Predictions(v, algorithms("gather")))
	refused("it was with P = 4")(Predictions(v, Choice{P: 3}))
	refused("two sizes")(Predictions(v, sizes(1024)))
	refused("one state of the cache")(Predictions(v, only(compare.Choice{Caches: []bool{false, true}})))
	refused("one algorithm")(Predictions(v, algorithms("message", "bcast:linear")))
	refused("two sizes")(Costs(cost, Choice{Algorithms: []string{"bcast:linear"}, Choice: compare.Choice{Sizes: []int{1 << 10}}}))
	refused("each collective has one: allreduce, mapping core, has P = 8; bcast, mapping core, has P = 64: choose others")(Published(against(64), Choice{}))
	refused("1025 CPUs are too many for a heat map, which has up to 1024")(HeatMaps("host", grouped(MaxHeat+1), Choice{}))
	refused("the file has no pairs with m = 64: it has 0, 8K")(HeatMaps("host", grouped(2), sizes(64)))
}
