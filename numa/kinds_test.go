package numa_test

import (
	"os"
	"slices"
	"testing"

	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/numa/snapshot"
)

// kindOf is the kind of a CPU, "" where all are alike.
func kindOf(m *numa.Machine, cpu int) string {
	for _, k := range m.Kinds {
		if k.CPUs.Contains(cpu) {
			return k.Name
		}
	}
	return ""
}

// On every machine, under each of its placements, the default number of workers are each on a
// core of their own, on cores of one kind, and fewer workers on the same ones; more are placed,
// too.
func TestPlacements(t *testing.T) {
	machines := make(map[string]*numa.Machine)
	for _, s := range numatest.Shapes {
		if s.Cores > 256 && os.Getenv("TAULOP_LONG") == "" { // which take seconds each
			continue
		}
		machines[s.String()] = s.Machine()
		if s.Cores > 128 {
			continue
		}
		hybrid := s.Machine() // of every package the first half of the cores is slow
		for cpu := range hybrid.CPUs {
			c := hybrid.CPUs[cpu]
			hybrid.Kinds = slices.Grow(hybrid.Kinds, 2)[:2]
			of := 0
			if c.Core%(s.Cores/s.Packages) < s.Cores/s.Packages/2 {
				of = 1
			}
			hybrid.Kinds[of].Name = []string{"fast", "slow"}[of]
			hybrid.Kinds[of].CPUs = append(hybrid.Kinds[of].CPUs, c.ID)
		}
		machines["hybrid, "+s.String()] = hybrid
	}
	if snapshot.Available() {
		for _, name := range snapshot.Names(t) {
			machines[name] = machine(t, name)
		}
	}
	for name, m := range machines {
		n := m.Concurrency()
		if cores := m.Count().Cores; n < 1 || n > cores || len(m.Kinds) == 0 && m.Quota == 0 && n != cores {
			t.Errorf("%s: %d workers by default on %d cores", name, n, cores)
		}
		for _, policy := range numa.Policies {
			p, err := m.Place(policy, n)
			if err != nil {
				continue // a level that it does not have, or no memory
			}
			cores, kinds := make(map[int]bool), make(map[string]bool)
			for _, w := range p.Workers {
				cores[w.Core], kinds[kindOf(m, w.ID)] = true, true
			}
			if len(cores) != n || len(kinds) != 1 || p.Oversubscribed {
				t.Errorf("%s, %s: %d workers on %d cores of kinds %v", name, policy, n, len(cores), kinds)
			}
			fewer, err := m.Place(policy, max(1, n/2))
			if err != nil || !slices.Equal(fewer.Workers, p.Workers[:max(1, n/2)]) {
				t.Errorf("%s, %s: %d of %d workers are elsewhere, %v", name, policy, n/2, n, err)
			}
			if all, err := m.Place(policy, m.Allowed.Len()); err != nil || all.Oversubscribed {
				t.Errorf("%s, %s: %v", name, policy, err)
			}
		}
	}
}

// What counts by default, of real machines and of quotas.
func TestConcurrency(t *testing.T) {
	for name, want := range map[string]int{"20em64t-hybrid-1p6c2t+2ca4co1t": 6, "nvidia-dgx-gb10": 10, "256ppc-8n8s4t": 64} {
		if !snapshot.Available() {
			break
		}
		if got := machine(t, name).Concurrency(); got != want {
			t.Errorf("%s: %d workers, want %d", name, got, want)
		}
	}
	m := numatest.Shape{Packages: 1, Nodes: 1, L3s: 1, Cores: 8, Threads: 2, L3: 1 << 20, L2: 1 << 20}.Machine()
	for quota, want := range map[float64]int{0: 8, 0.5: 1, 1: 1, 4.9: 4, 8: 8, 16: 8} {
		if m.Quota = quota; m.Concurrency() != want {
			t.Errorf("quota %g: %d workers, want %d", quota, m.Concurrency(), want)
		}
	}
	// A phone has one fastest core, which is nothing to measure concurrency on.
	phone := numatest.Shape{Packages: 1, Nodes: 1, L3s: 1, Cores: 8, Threads: 1, L3: 1 << 20, L2: 1 << 20}.Machine()
	phone.Kinds = []numa.Kind{{Name: "prime", CPUs: numa.SetOf(7)}, {Name: "big", CPUs: numa.SetOf(4, 5, 6)}, {Name: "little", CPUs: numa.SetOf(0, 1, 2, 3)}}
	p, err := phone.Place(numa.Local, 5)
	if err != nil || phone.Concurrency() != 3 {
		t.Fatalf("%d workers, %v", phone.Concurrency(), err)
	}
	for i, want := range []int{4, 5, 6, 7, 0} {
		if p.Workers[i].ID != want {
			t.Errorf("worker %d is on CPU %d, want %d", i, p.Workers[i].ID, want)
		}
	}
}
