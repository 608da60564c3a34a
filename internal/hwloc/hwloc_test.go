package hwloc

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// file has two nodes of two CPUs; workers of the second placement read the other node's memory.
func file() *params.File {
	worker := func(cpu, node, user int) numa.Worker {
		return numa.Worker{CPU: numa.CPU{ID: cpu, Core: cpu, Node: node}, UserNode: user}
	}
	f := &params.File{Placements: []numa.Placement{
		{Policy: numa.Local, Workers: []numa.Worker{worker(0, 0, 0), worker(1, 0, 0), worker(34, 1, 1), worker(35, 1, 1)}},
		{Policy: numa.List, Workers: []numa.Worker{worker(0, 0, 1), worker(1, 0, 1)}},
	}}
	f.Launches = []params.Launch{{Loads: []params.Loads{
		{Placement: numa.Local, Tau: 1, Next: 90, Flushed: 91, Cached: 4},
		{Placement: numa.Local, Tau: 2, Next: 95, Flushed: 99, Cached: 4},
		{Placement: numa.Local, Tau: 4, Next: 120, Flushed: 121, Cached: 4}, // workers on both nodes
		{Placement: numa.List, Tau: 2, Next: 150, Flushed: 140, Cached: 4},
	}}}
	of := func(k params.Key, ns float64) {
		f.Cells = append(f.Cells, params.Cell{Key: k, Time: fit.Estimate{Center: ns}})
	}
	k := params.Key{Kind: params.CopyCell, Placement: numa.Local, Bytes: 1 << 20, OffCache: true}
	for tau, ns := range map[int]float64{1: 200_000, 2: 250_000, 4: 1} { // two copies of 1 MiB, read and written, in 250 µs
		k.Tau = tau
		of(k, ns)
	}
	k.Tau, k.OffCache = 2, false
	of(k, 1)
	of(params.Key{Kind: params.AccessCell, Placement: numa.List, Tau: 1, Bytes: 4 << 20, OffCache: true}.Named("read-int32-1"), 1_000_000)
	return f
}

func TestWrite(t *testing.T) {
	var b bytes.Buffer
	must.Do(Write(&b, file()))
	contains.All(t, b.String(),
		`<memattr name="Latency" flags="6">`, `value="91" initiator_cpuset="0x00000003"`, `value="140" initiator_cpuset="0x00000003"`,
		`value="16000" initiator_cpuset="0x00000003"`, `value="4000" initiator_cpuset="0x00000003"`, `os_index="34" cpuset="0x00000004,0x00000000"`,
	)
	contains.None(t, b.String(), `value="121"`) // a latency of workers on two nodes
	f := file()
	f.Launches, f.Cells = nil, nil
	check.Error(t, Write(&b, f), "a file without numbers of memory is written")
	f.Placements = nil
	check.Error(t, Write(&b, f), "a file without placements is written")
}

// lstopo loads the file and shows the attributes.
func TestLstopo(t *testing.T) {
	const lstopo = "lstopo-no-graphics"
	skip.Without(t, lstopo)
	one := file()
	one.Placements = one.Placements[:1]
	one.Placements[0].Workers = one.Placements[0].Workers[:2]
	for name, f := range map[string]*params.File{"two nodes": file(), "one": one} {
		path := filepath.Join(t.TempDir(), "machine.xml")
		var b bytes.Buffer
		must.Do(Write(&b, f))
		must.Do(os.WriteFile(path, b.Bytes(), 0o600))
		out := must.Get(exec.Command(lstopo, "-i", path, "--memattrs").CombinedOutput())
		contains.All(t, string(out), "NUMANode L#0 = 91 from cpuset 0x00000003", "NUMANode L#0 = 16000 from")
		check.True(t, name != "two nodes" || strings.Contains(string(out), "NUMANode L#1 = 140 from cpuset 0x00000003"),
			"the other node's latency is missing: %s", out)
		out = must.Get(exec.Command(lstopo, "-i", path, "--of", "console").CombinedOutput())
		contains.All(t, string(out), "PU L#1 (P#1)")
	}
}
