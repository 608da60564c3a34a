// Package lists makes lists of others, where a loop would say less than its name. They
// are nil where they are empty.
package lists

import (
	"cmp"
	"slices"
)

// Map is a value of each.
func Map[T, V any](of []T, value func(T) V) (values []V) {
	values = slices.Grow(values, len(of))
	for _, t := range of {
		values = append(values, value(t))
	}
	return values
}

// Filter are those that are taken, in a list of their own.
func Filter[T any](of []T, take func(T) bool) (taken []T) {
	for _, t := range of {
		if take(t) {
			taken = append(taken, t)
		}
	}
	return taken
}

// Unique are the values without those that were there before.
func Unique[T comparable](of []T) (first []T) {
	for _, t := range of {
		if !slices.Contains(first, t) {
			first = append(first, t)
		}
	}
	return first
}

// Rising are the values in rising order, each once, in a list of their own.
func Rising[T cmp.Ordered](of []T) []T {
	rising := slices.Clone(of)
	slices.Sort(rising)
	return slices.Compact(rising)
}

// Insert puts a value into a rising list, once.
func Insert[T cmp.Ordered](rising []T, v T) []T {
	i, found := slices.BinarySearch(rising, v)
	if found {
		return rising
	}
	return slices.Insert(rising, i, v)
}

// Spread are up to n of the values, evenly, the first and the last among them, in a list of their
// own.
func Spread[T any](of []T, n int) (few []T) {
	n = min(n, len(of))
	for i := range n {
		few = append(few, of[i*(len(of)-1)/max(1, n-1)])
	}
	return few
}

// FalseFirst orders booleans, for cmp.Compare.
func FalseFirst(b bool) int {
	if b {
		return 1
	}
	return 0
}
