package model

import (
	"errors"
	"reflect"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

func TestCheapest(t *testing.T) {
	costs := func(fs ...func(m float64) float64) func(int) ([]Cost, error) {
		return func(m int) ([]Cost, error) {
			return lists.Map(fs, func(f func(float64) float64) Cost { return Cost{Seconds: f(float64(m)), Extrapolated: m > 4<<20} }), nil
		}
	}
	constant := func(v float64) func(float64) float64 { return func(float64) float64 { return v } }
	linear := func(m float64) float64 { return m }
	step := func(m float64) float64 { // from 12288 on
		if m < 12288 {
			return 1e9
		}
		return 0.5
	}
	try := func(what string, from, to int, margin float64, costs func(int) ([]Cost, error), want []Interval) {
		t.Helper()
		got, err := Cheapest(from, to, margin, costs)
		check.True(t, err == nil && reflect.DeepEqual(got, want), "%s: %+v, %v\n\twant %+v", what, got, err, want)
	}
	try("a crossing", 1, 1<<20, 0, costs(linear, constant(1000.5)), []Interval{
		{1, 1000, []int{0}, 1000.5, false, false},
		{1001, 1 << 20, []int{1}, (1 << 20) / 1000.5, false, false}})
	try("always equal", 1, 100, 0, costs(linear, linear), []Interval{{1, 100, []int{0, 1}, 1, false, false}})
	try("equal at one size", 1, 100, 0, costs(linear, constant(50)), []Interval{
		{1, 50, []int{0}, 50, false, false}, {51, 100, []int{1}, 2, false, false}})
	try("equal at first", 50, 100, 0, costs(linear, constant(50)), []Interval{
		{50, 50, []int{0, 1}, 1, false, false}, {51, 100, []int{1}, 2, false, false}})
	try("a margin", 1, 1<<20, 0.1, costs(linear, constant(1000)), []Interval{
		{1, 1100, []int{0}, 1000, false, false}, {1101, 1 << 20, []int{1}, (1 << 20) / 1000., false, false}})
	try("within the margin all the way", 1, 1<<20, 0.1, costs(linear, func(m float64) float64 { return m * 0.96875 }), []Interval{
		{1, 1 << 20, []int{0, 1}, 1, false, false}})
	try("a tie at first", 1, 1<<20, 0.1, costs(constant(1000), func(m float64) float64 { return 1000 + m }), []Interval{
		{1, 100, []int{0, 1}, 1, false, false}, {101, 1 << 20, []int{0}, 1 + (1<<20)/1000., false, false}})
	try("a threshold within a step of the grid", 8000, 32768, 0, costs(constant(1), step), []Interval{
		{8000, 12287, []int{0}, 1e9, false, false}, {12288, 32768, []int{1}, 2, false, false}})
	try("beyond the tables", 4<<20, 8<<20, 0, costs(constant(1)), []Interval{{4 << 20, 8 << 20, []int{0}, 1, true, false}})
	try("a single size", 7, 7, 0, costs(linear, constant(1)), []Interval{{7, 7, []int{1}, 7, false, false}})
	between := func(m int) ([]Cost, error) { return []Cost{{Seconds: 1}, {Seconds: 2, Unknown: m > 10 && m < 20}}, nil }
	try("unknown in between", 1, 100, 0, between, []Interval{{1, 10, []int{0}, 2, false, false}, {From: 11, To: 19, Advantage: 1, Unknown: true}, {20, 100, []int{0}, 2, false, false}})
	first := func(m int) ([]Cost, error) { return []Cost{{Seconds: 1, Unknown: m < 20}, {Seconds: 2}}, nil }
	try("unknown at first", 1, 100, 0, first, []Interval{{From: 1, To: 19, Advantage: 1, Unknown: true}, {20, 100, []int{0}, 2, false, false}})
	failure := errors.New("no γ")
	check.Equal(t, must.Err(Cheapest(1, 10, 0, func(int) ([]Cost, error) { return nil, failure })), failure, "error")
}
