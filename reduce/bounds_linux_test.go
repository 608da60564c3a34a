package reduce

import (
	"math/rand/v2"
	"os"
	"runtime/debug"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/skip"
)

// Vectors that begin or end beside unmapped memory: the processor stops an access beyond them.
func TestBounds(t *testing.T) {
	page := os.Getpagesize()
	between := func() []byte {
		size := (300*16/page + 1) * page
		mem, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		skip.Error(t, err)
		t.Cleanup(func() { unix.Munmap(mem) })
		for _, guard := range [][]byte{mem[:page], mem[page+size:]} {
			skip.Error(t, unix.Mprotect(guard, unix.PROT_NONE))
		}
		return mem[page : page+size]
	}
	in, inout := between(), between()
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, mem := range [][]byte{in, inout} {
		for i := range mem {
			mem[i] = byte(rnd.Uint32())
		}
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for _, o := range everyOperator() {
		for n := range 301 {
			func() {
				defer func() {
					err := recover()
					check.Need(t, err == nil, "%s of %s, %d elements: %v", o.Name, o.version, n, err)
				}()
				m := n * o.Element
				o.Apply(inout[:m], in[:m])
				o.Apply(inout[len(inout)-m:], in[len(in)-m:])
				o.Apply(inout[len(inout)-m:], in[:m])
				o.Apply(inout[:m], in[len(in)-m:])
			}()
		}
	}
}
