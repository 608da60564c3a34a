package numa_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

func TestParseSets(t *testing.T) {
	for _, test := range []struct {
		parse           func(string) (numa.CPUSet, error)
		text, want, err string
	}{
		{numa.ParseList, "0-3,8\n", "0-3,8", ""},
		{numa.ParseList, "", "", ""},
		{numa.ParseList, " \n \x00", "", ""},
		{numa.ParseList, "0-2,33-34,45,72-73", "0-2,33-34,45,72-73", ""}, // sparse nodes of a real machine
		{numa.ParseList, "0,4 \n ", "0,4", ""},
		{numa.ParseList, "8,0-3,2-4", "0-4,8", ""},
		{numa.ParseList, "8191", "8191", ""},
		{numa.ParseList, "0-8192", "", "beyond 8191"},
		{numa.ParseList, "99999999999999999999", "", "no CPU number"},
		{numa.ParseList, "3-1", "", "runs backwards: write 1-3"},
		{numa.ParseList, "a", "", `"a" is no CPU number`},
		{numa.ParseList, "1-2-3", "", "no CPU number"},
		{numa.ParseList, strings.Repeat("0-8000,", 1000), "0-8000", ""},
		{numa.ParseMask, "ff,00000000\n", "32-39", ""},
		{numa.ParseMask, "00000000,00001111", "0,4,8,12", ""},
		{numa.ParseMask, "0000,0003f000", "12-17", ""},
		{numa.ParseMask, "fffff", "0-19", ""},
		{numa.ParseMask, "", "", ""},
		{numa.ParseMask, "xyz", "", `"xyz"`},
		{numa.ParseMask, "1ffffffff", "", "32 bits"},
		{numa.ParseMask, strings.Repeat("0,", 40000) + "1", "", "more than 256 words"},
	} {
		set, err := test.parse(test.text)
		check.Equal(t, set.String(), test.want, "%.40q", test.text)
		contains.Error(t, err, test.err)
	}
}

func TestParseOrder(t *testing.T) {
	for _, test := range []struct {
		list string
		want []int
		err  string
	}{
		{"2,0,4-6", []int{2, 0, 4, 5, 6}, ""},
		{" 1 , 0 ", []int{1, 0}, ""},
		{"", nil, "name at least one"},
		{"0,,1", nil, "no CPU number"},
		{"0,1,0", nil, "CPU 0 is twice"},
		{"4,0-7", nil, "CPU 4 is twice"},
		{"7-5", nil, "write 5-7"},
		{"0-99999999", nil, "beyond 8191"},
		{"all", nil, `"all" is no CPU number`},
	} {
		cpus, err := numa.ParseOrder(test.list)
		check.Slices(t, cpus, test.want, "%q", test.list)
		contains.Error(t, err, test.err)
	}
}

func TestCPUSetInJSON(t *testing.T) {
	for _, want := range []string{`{"cpus":"0-3,8"}`, `{"cpus":""}`} {
		var v struct {
			CPUs numa.CPUSet `json:"cpus"`
		}
		must.Do(json.Unmarshal([]byte(want), &v))
		check.Equal(t, string(must.Get(json.Marshal(v))), want, "Marshal")
	}
}

// FuzzParse: sets from any text are ascending and bounded, and an order has no CPU twice.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"0-3,8\n", "", "3-1", "0-8191", ",,", "0-0", "1 - 2", "ff,00000000", "0", "x", "00000001,", "2,0,4-6", "0,0", "5-", "-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func(string) (numa.CPUSet, error){numa.ParseList, numa.ParseMask} {
			if set, err := read(text); err == nil {
				checkSet(t, set)
			}
		}
		if cpus, err := numa.ParseOrder(text); err == nil && (len(cpus) == 0 || numa.SetOf(cpus...).Len() != len(cpus)) {
			t.Errorf("%q: %v", text, cpus)
		}
	})
}

// checkSet: the set is ascending and bounded, and the same after it is written and read.
func checkSet(t *testing.T, set numa.CPUSet) {
	t.Helper()
	check.True(t, slices.Equal(set, numa.SetOf(set...)) && set.Len() <= 1<<13, "%v is not ascending or too large", set)
	check.Slices(t, must.Get(numa.ParseList(set.String())), set, "came back as")
}
