package lists

import (
	"fmt"
	"slices"
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
	if got := Rising(numbers); !slices.Equal(got, []int{1, 2, 3}) || numbers[0] != 3 {
		t.Errorf("Rising: %v of %v", got, numbers)
	}
	check.Equal(t, fmt.Sprint(Groups(numbers, func(n int) int { return n % 2 })), "[[3 1 3 1] [2]]", "Groups")
	if got := fmt.Sprint(Sum(numbers, func(n int) int { return n * n }), Most(numbers, func(n int) int { return -n }), Most(numbers, func(n int) int { return n })); got != "24 0 3" {
		t.Errorf("Sum and Most: %s", got)
	}
	self := func(n int) int { return n }
	if got := fmt.Sprint(Counts(numbers, self), Index(numbers, self), ToMap(numbers, func(n int) (int, string) { return n, strconv.Itoa(-n) }), Indices(3)); got != "map[1:2 2:1 3:2] map[1:4 2:3 3:2] map[1:-1 2:-2 3:-3] [0 1 2]" {
		t.Errorf("Counts, Index, ToMap and Indices: %s", got)
	}
	rising := []int(nil)
	for _, n := range numbers {
		rising = Insert(rising, n)
	}
	check.Slices(t, rising, []int{1, 2, 3}, "Insert")
	if Map(nil, strconv.Itoa) != nil || Filter(numbers, func(int) bool { return false }) != nil || Unique[int](nil) != nil || Indices(0) != nil {
		t.Error("an empty list is not nil")
	}
}
