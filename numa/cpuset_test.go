package numa_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/lists"
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
	for _, want := range []string{`"0-3,8"`, `""`} {
		var v numa.CPUSet
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
		cpus, err := numa.ParseOrder(text)
		check.True(t, err != nil || len(cpus) != 0 && numa.SetOf(cpus...).Len() == len(cpus), "%q: %v", text, cpus)
	})
}

// levelsOf counts the pairs of CPUs at each level.
func levelsOf(ls numa.Levels, cpus numa.CPUSet) string {
	counts := make(map[int]int) // by level; -1: pairs without one
	for i, a := range cpus {
		for _, b := range cpus[i+1:] {
			counts[ls.Of(a, b)]++
		}
	}
	parts := lists.Map(lists.Indices(len(ls)), func(i int) string { return fmt.Sprintf("%s %d", ls[i].Name, counts[i]) })
	if lost := counts[-1]; lost > 0 {
		parts = append(parts, fmt.Sprintf("lost %d", lost))
	}
	return strings.Join(parts, ", ")
}

// The numbers follow from the snapshots' names and expected.tsv: 4 nodes of 32 CPUs with an L3 each have 4·(32·31/2)
// = 1984 pairs that share an L3, 64 cores of four threads 64·6 = 384 pairs of siblings. Distances are the snapshots'.
func TestLevelsOfSnapshots(t *testing.T) {
	for name, want := range map[string]string{
		"128arm-2pa2n8cluster4co":         "shared L3 1984, same package 2048, nodes 25 apart 1024, nodes 32 apart 2048, nodes 33 apart 1024",
		"16amd64-8n2c":                    "same package 8, nodes 20 apart 112",
		"16em64t-4s2c2t-offlines":         "SMT siblings 5, shared L3 9, same node 52",
		"20em64t-hybrid-1p6c2t+2ca4co1t":  "SMT siblings 6, shared L2 12, shared L3 172",
		"256ppc-8n8s4t":                   "SMT siblings 384, same node 3584, nodes 20 apart 4096, nodes 40 apart 24576",
		"32em64t-2n8c+dax+nvme+mic+dimms": "shared L3 56, nodes 21 apart 64",
		"48amd64-4pa2n6c-sparse":          "shared L3 120, same package 144, nodes 16 apart 504, nodes 22 apart 360",
		"64fake-4n2s2ca2c2t":              "SMT siblings 32, shared L2 64, shared L3 128, same node 256, other node 1536",
		"8em64t-2s2ca2c":                  "shared L2 4, same package 8, same node 16",
		"nvidia-dgx-gb10":                 "shared L3 90, same package 100",
	} {
		m := numa.Snapshot(t, name)
		check.Equal(t, levelsOf(m.Levels(m.Allowed), m.Allowed), want, "%s", name)
	}
}

// CPUs that share nothing known are on the same machine.
func TestLevelsOfNothing(t *testing.T) {
	m := &numa.Machine{CPUs: []numa.CPU{{ID: 3, Core: 0, Package: 0, Node: 0}, {ID: 5, Core: 1, Package: 1, Node: 1}}}
	check.Equal(t, levelsOf(m.Levels(numa.SetOf(3, 5)), numa.SetOf(3, 5)), "same machine 1", "levels")
	check.Equal(t, len(m.Levels(numa.SetOf(3))), 0, "one CPU has levels")
}
