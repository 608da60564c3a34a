package reduce

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/test/skip"
)

// The time of a reduction, a median over batches, beside C: see bench/reduce.sh.
func BenchmarkOperators(b *testing.B) {
	for _, v := range append(versions, version{name: "Go", usable: true}) {
		if !v.usable {
			continue
		}
		b.Run(v.name, func(b *testing.B) {
			for _, o := range Operators {
				o.kernel, o.vector = v.kernels[o.Name], v.vector
				b.Run(o.Name, func(b *testing.B) {
					for _, size := range []struct {
						name  string
						bytes int
					}{{"4K", 4 << 10}, {"256K", 256 << 10}, {"8M", 8 << 20}, {"256M", 256 << 20}} {
						b.Run(size.name, func(b *testing.B) { benchmark(b, &o, size.bytes) })
					}
				})
			}
		})
	}
}

func benchmark(b *testing.B, o *Operator, n int) {
	in, inout := mapped(b, n), mapped(b, n)
	one := cmp.Or(map[byte]uint64{'F': uint64(math.Float32bits(1)), 'R': math.Float64bits(1)}[o.Name[len(o.Name)-1]], 1)
	for _, mem := range [][]byte{in, inout} {
		for at := copy(mem, element(one, o.Element)); at < n; at *= 2 {
			copy(mem[at:], mem[:at])
		}
	}
	calls := max(1, (4<<20)/n)
	var batches []time.Duration
	b.SetBytes(int64(calls * n))
	for b.Loop() {
		start := time.Now()
		for range calls {
			o.Apply(inout, in)
		}
		batches = append(batches, time.Since(start))
	}
	slices.Sort(batches)
	b.ReportMetric(float64(batches[len(batches)/2].Nanoseconds())/float64(calls), "ns/median")
}

// mapped is memory in huge pages, which make one process as fast as the next. So has reduce.c it.
func mapped(b *testing.B, n int) []byte {
	const huge = 2 << 20
	mem, err := unix.Mmap(-1, 0, n+2*huge, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	skip.Error(b, err)
	b.Cleanup(func() { unix.Munmap(mem) })
	_ = unix.Madvise(mem, unix.MADV_HUGEPAGE) // small pages will do
	return mem[-uintptr(unsafe.Pointer(&mem[0]))%huge:][:n]
}
