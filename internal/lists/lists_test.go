package lists

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
)

func TestLists(t *testing.T) {
	numbers := []int{3, 1, 3, 2, 1}
	if got := Map(numbers, strconv.Itoa); !slices.Equal(got, []string{"3", "1", "3", "2", "1"}) {
		t.Errorf("Map: %v", got)
	}
	if got := fmt.Sprint(Concat(numbers, func(n int) []int { return numbers[:n-1] })); got != "[3 1 3 1 3]" {
		t.Errorf("Concat: %s", got)
	}
	for n, want := range []string{"[]", "[3]", "[3 1]", "[3 3 1]"} {
		if got := fmt.Sprint(Spread(numbers, n)); got != want {
			t.Errorf("Spread %d: %s, want %s", n, got, want)
		}
	}
	odd := Filter(numbers, func(n int) bool { return n%2 == 1 })
	if !slices.Equal(odd, []int{3, 1, 3, 1}) {
		t.Errorf("Filter: %v", odd)
	}
	if one := Find(numbers, func(n int) bool { return n < 3 }); one != &numbers[1] || Find(numbers, func(n int) bool { return n > 3 }) != nil {
		t.Error("Find is wrong")
	}
	if odd[0] = 7; numbers[0] != 3 {
		t.Error("Filter changed its argument")
	}
	if got := Unique(numbers); !slices.Equal(got, []int{3, 1, 2}) {
		t.Errorf("Unique: %v", got)
	}
	if got := Rising(numbers); !slices.Equal(got, []int{1, 2, 3}) || numbers[0] != 3 {
		t.Errorf("Rising: %v of %v", got, numbers)
	}
	if got := fmt.Sprint(Groups(numbers, func(n int) int { return n % 2 })); got != "[[3 1 3 1] [2]]" {
		t.Errorf("Groups: %s", got)
	}
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
	if !slices.Equal(rising, []int{1, 2, 3}) {
		t.Errorf("Insert: %v", rising)
	}
	if Map(nil, strconv.Itoa) != nil || Filter(numbers, func(int) bool { return false }) != nil || Unique[int](nil) != nil || Indices(0) != nil {
		t.Error("an empty list is not nil")
	}
}
