// Package lists makes lists from lists. Empty results are nil.
package lists

import (
	"cmp"
	"slices"
)

// Map is the list of f's results.
func Map[T, V any](list []T, f func(T) V) (values []V) {
	values = slices.Grow(values, len(list))
	for _, t := range list {
		values = append(values, f(t))
	}
	return values
}

// Concat is f's lists, one after the other.
func Concat[T, V any](list []T, f func(T) []V) (all []V) {
	for _, t := range list {
		all = append(all, f(t)...)
	}
	return all
}

// Filter is a new list of the elements that take accepts.
func Filter[T any](list []T, take func(T) bool) (taken []T) {
	for _, t := range list {
		if take(t) {
			taken = append(taken, t)
		}
	}
	return taken
}

// Find is the first element that is accepts; nil if there is none.
func Find[T any](list []T, is func(T) bool) *T {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return &list[i]
	}
	return nil
}

// Sum is the sum of f's values.
func Sum[T any, N cmp.Ordered](list []T, f func(T) N) (sum N) {
	for _, t := range list {
		sum += f(t)
	}
	return sum
}

// Most is the largest of f's values; zero if none is larger.
func Most[T any, N cmp.Ordered](list []T, f func(T) N) (most N) {
	for _, t := range list {
		most = max(most, f(t))
	}
	return most
}

// Counts are the numbers of elements by key.
func Counts[T any, K comparable](list []T, key func(T) K) map[K]int {
	counts := make(map[K]int)
	for _, t := range list {
		counts[key(t)]++
	}
	return counts
}

// ToMap is the map of f's keys and values; of equal keys it has the last value.
func ToMap[T any, K comparable, V any](list []T, f func(T) (K, V)) map[K]V {
	values := make(map[K]V, len(list))
	for _, t := range list {
		k, v := f(t)
		values[k] = v
	}
	return values
}

// Index is the map of keys to the elements' indices; of equal keys it has the last one.
func Index[T any, K comparable](list []T, key func(T) K) map[K]int {
	index := make(map[K]int, len(list))
	for i, t := range list {
		index[key(t)] = i
	}
	return index
}

// Indices are the numbers from 0 to n−1.
func Indices(n int) (all []int) {
	all = slices.Grow(all, max(n, 0))
	for i := range n {
		all = append(all, i)
	}
	return all
}

// Unique are the elements without repetitions.
func Unique[T comparable](list []T) (first []T) {
	seen := make(map[T]bool)
	for _, t := range list {
		if !seen[t] {
			seen[t] = true
			first = append(first, t)
		}
	}
	return first
}

// Groups groups the elements by key, in the order of each group's first element.
func Groups[T any, K comparable](list []T, key func(T) K) (groups [][]T) {
	index := make(map[K]int)
	for _, t := range list {
		k := key(t)
		i, known := index[k]
		if !known {
			i = len(groups)
			index[k], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], t)
	}
	return groups
}

// Rising is a new list of the elements in ascending order without repetitions.
func Rising[T cmp.Ordered](list []T) []T {
	rising := slices.Clone(list)
	slices.Sort(rising)
	return slices.Compact(rising)
}

// Insert inserts a value into an ascending list, unless it is there.
func Insert[T cmp.Ordered](rising []T, v T) []T {
	i, found := slices.BinarySearch(rising, v)
	if found {
		return rising
	}
	return slices.Insert(rising, i, v)
}

// Spread is a new list of up to n elements at equal distances, the first and the last among them.
func Spread[T any](list []T, n int) (few []T) {
	n = min(n, len(list))
	for i := range n {
		few = append(few, list[i*(len(list)-1)/max(1, n-1)])
	}
	return few
}

// FalseFirst is 0 for false and 1 for true, for sorting.
func FalseFirst(b bool) int {
	if b {
		return 1
	}
	return 0
}
