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
	try := func(parse func(string) (numa.CPUSet, error), text, want, says string) {
		t.Helper()
		set, err := parse(text)
		check.Equal(t, set.String(), want, "%.40q", text)
		contains.Error(t, err, says)
	}
	try(numa.ParseList, "0-3,8\n", "0-3,8", "")
	try(numa.ParseList, "", "", "")
	try(numa.ParseList, " \n \x00", "", "")
	try(numa.ParseList, "0-2,33-34,45,72-73", "0-2,33-34,45,72-73", "") // sparse nodes of a real machine
	try(numa.ParseList, "0,4 \n ", "0,4", "")
	try(numa.ParseList, "8,0-3,2-4", "0-4,8", "")
	try(numa.ParseList, "8191", "8191", "")
	try(numa.ParseList, "0-8192", "", "beyond 8191")
	try(numa.ParseList, "99999999999999999999", "", "no CPU number")
	try(numa.ParseList, "3-1", "", "runs backwards: write 1-3")
	try(numa.ParseList, "a", "", `"a" is no CPU number`)
	try(numa.ParseList, "1-2-3", "", "no CPU number")
	try(numa.ParseList, strings.Repeat("0-8000,", 1000), "0-8000", "")
	try(numa.ParseMask, "ff,00000000\n", "32-39", "")
	try(numa.ParseMask, "00000000,00001111", "0,4,8,12", "")
	try(numa.ParseMask, "0000,0003f000", "12-17", "")
	try(numa.ParseMask, "fffff", "0-19", "")
	try(numa.ParseMask, "", "", "")
	try(numa.ParseMask, "xyz", "", `"xyz"`)
	try(numa.ParseMask, "1ffffffff", "", "32 bits")
	try(numa.ParseMask, strings.Repeat("0,", 40000)+"1", "", "more than 256 words")
}

func TestParseOrder(t *testing.T) {
	try := func(list string, want []int, says string) {
		t.Helper()
		cpus, err := numa.ParseOrder(list)
		check.Slices(t, cpus, want, "%q", list)
		contains.Error(t, err, says)
	}
	try("2,0,4-6", []int{2, 0, 4, 5, 6}, "")
	try(" 1 , 0 ", []int{1, 0}, "")
	try("", nil, "name at least one")
	try("0,,1", nil, "no CPU number")
	try("0,1,0", nil, "CPU 0 is twice")
	try("4,0-7", nil, "CPU 4 is twice")
	try("7-5", nil, "write 5-7")
	try("0-99999999", nil, "beyond 8191")
	try("all", nil, `"all" is no CPU number`)
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

// FuzzParse: sets from any text are ascending and bounded, and the same after they are written and read; an
// order has no CPU twice.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"0-3,8\n", "", "3-1", "0-8191", ",,", "0-0", "1 - 2", "ff,00000000", "0", "x", "00000001,", "2,0,4-6", "0,0", "5-", "-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func(string) (numa.CPUSet, error){numa.ParseList, numa.ParseMask} {
			if set, err := read(text); err == nil {
				check.True(t, slices.Equal(set, numa.SetOf(set...)) && set.Len() <= 1<<13, "%v is not ascending or too large", set)
				check.Slices(t, must.Get(numa.ParseList(set.String())), set, "came back as")
			}
		}
		if cpus, err := numa.ParseOrder(text); err == nil && (len(cpus) == 0 || numa.SetOf(cpus...).Len() != len(cpus)) {
			t.Errorf("%q: %v", text, cpus)
		}
	})
}
