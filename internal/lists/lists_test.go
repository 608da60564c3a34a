package lists

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
)

func TestLists(t *testing.T) {
	numbers := []int{3, 1, 3, 2, 1}
	check.Slices(t, Map(numbers, strconv.Itoa), []string{"3", "1", "3", "2", "1"}, "Map")
	check.Equal(t, fmt.Sprint(Concat(numbers, func(n int) []int { return numbers[:n-1] })), "[3 1 3 1 3]", "Concat")
	for n, want := range []string{"[]", "[3]", "[3 1]", "[3 3 1]"} {
		check.Equal(t, fmt.Sprint(Spread(numbers, n)), want, "Spread %d", n)
	}
	odd := Filter(numbers, func(n int) bool { return n%2 == 1 })
	check.Slices(t, odd, []int{3, 1, 3, 1}, "Filter")
	one := Find(numbers, func(n int) bool { return n < 3 })
	check.True(t, one == &numbers[1] && Find(numbers, func(n int) bool { return n > 3 }) == nil, "Find is wrong")
	odd[0] = 7
	check.Equal(t, numbers[0], 3, "what Filter was given")
	check.Slices(t, Unique(numbers), []int{3, 1, 2}, "Unique")
	check.Equal(t, len(Unique(Indices(1<<18))), 1<<18, "Unique of many elements") // 512 CPUs have 130,816 pairs: not in quadratic time
	check.Slices(t, append(Rising(numbers), numbers[0]), []int{1, 2, 3, 3}, "Rising, and what it was given")
	check.Equal(t, fmt.Sprint(Groups(numbers, func(n int) int { return n % 2 })), "[[3 1 3 1] [2]]", "Groups")
	self, minus := func(n int) int { return n }, func(n int) int { return -n }
	check.Equal(t, fmt.Sprint(Sum(numbers, func(n int) int { return n * n }), Most(numbers, minus), Most(numbers, self)), "24 0 3", "Sum and Most")
	check.Equal(t, fmt.Sprint(Counts(numbers, self), Index(numbers, self)), "map[1:2 2:1 3:2] map[1:4 2:3 3:2]", "Counts and Index")
	check.Equal(t, fmt.Sprint(ToMap(numbers, func(n int) (int, int) { return n, -n }), Indices(3)), "map[1:-1 2:-2 3:-3] [0 1 2]", "ToMap and Indices")
	rising := []int(nil)
	for _, n := range numbers {
		rising = Insert(rising, n)
	}
	check.Slices(t, rising, []int{1, 2, 3}, "Insert")
	check.True(t, Map(nil, strconv.Itoa) == nil && Filter(numbers, func(int) bool { return false }) == nil && Unique[int](nil) == nil && Indices(0) == nil,
		"an empty list is not nil")
}
