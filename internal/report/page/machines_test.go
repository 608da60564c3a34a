package page

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/test/nodes"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// exact is a machine with the given times of transfers of 8 KB, ±2 %.
func exact(name string, taus []int, L ...float64) compare.Machine {
	f := nodes.Machine(0)
	f.Warnings, f.Cells, f.Plan.Taus, f.Plan.Sizes = []string{"the clock of " + name + " varies"}, nil, taus, []int{4096, 8192}
	f.Provenance.Hostname = name
	for _, m := range f.Plan.Sizes {
		for i, tau := range taus {
			l := 2 * L[i] * float64(m) / 8192
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: "ring", Placement: numa.Local, Tau: tau, Bytes: m},
				K: 1, Transfers: 2, Time: fit.Estimate{Center: l, Lo: 0.98 * l, Hi: 1.02 * l, N: 7}, Samples: params.Samples(l)})
		}
	}
	return compare.Machine{Name: name, Path: "/somewhere/" + fmt.Sprint(len(name)) + ".json", File: f}
}

const (
	evil = `<script>alert(1)</script>`
	sly  = `"><img src=x onerror=alert(2)> & </script>`
)

func few() *Page {
	return &Page{
		Machines: []compare.Machine{
			exact(evil, []int{1, 2, 4, 8}, 1000, 1600, 2500, 5000), // A = 1, 1.25, 1.6, 1.6
			exact(sly, []int{1, 2, 4, 8}, 500, 500, 1000, 1600),    // A = 1, 2, 2, 2.5
		},
		Raw: func(path string) ([]byte, error) { return []byte("raw " + path + " ≤ \x00\n"), nil },
	}
}

// only removes the cells of other kinds.
func only(m compare.Machine, k params.Kind) compare.Machine {
	m.File.Cells = slices.DeleteFunc(m.File.Cells, func(c params.Cell) bool { return c.Kind != k })
	return m
}

// many is a fleet of n machines with their files.
func many(n int) *Page {
	p := &Page{}
	files := make(map[string]*params.File)
	for i := range n {
		f := nodes.Machine(i)
		path := f.Provenance.Hostname + ".json"
		p.Machines, files[path] = append(p.Machines, compare.Machine{Name: f.Provenance.Hostname, Path: path, File: f}), f
	}
	p.Raw = func(path string) ([]byte, error) {
		var text bytes.Buffer
		err := files[path].Write(&text)
		return text.Bytes(), err
	}
	return p
}

// addSurveys adds cells of every kind to a machine, with times multiplied by a factor. Of its four CPUs 0 and
// 1 share a cache, and 2 and 3.
func addSurveys(m compare.Machine, times float64) compare.Machine {
	add := func(k params.Key, ns float64) {
		ns *= times
		m.File.Cells = append(m.File.Cells, params.Cell{Key: k, Time: fit.Estimate{Center: ns, Lo: 0.9 * ns, Hi: 1.1 * ns, N: 9}})
	}
	m.File.Provenance.Levels = numa.Levels{
		{Name: "shared L2", Groups: []numa.CPUSet{{0, 1}, {2, 3}}}, {Name: "same package", Groups: []numa.CPUSet{{0, 1, 2, 3}}},
	}
	for _, bytes := range []int{0, 1024, 8192} {
		for a := range 4 {
			for b := a + 1; b < 4; b++ {
				ns := 50.0
				if a/2 != b/2 {
					ns = 200
				}
				add(params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Bytes: bytes, Variant: params.PairOf(a, b, params.UnknownHome)}, ns+float64(bytes)/16)
			}
		}
	}
	for _, tau := range []int{1, 2} {
		for _, bytes := range []int{64, 4096} {
			add(params.Key{Kind: params.LevelCell, Placement: numa.Local, Tau: tau, Bytes: bytes}.Named("L1-L1"), float64(tau*bytes)/64)
			add(params.Key{Kind: params.LevelCell, Placement: numa.Local, Tau: tau, Bytes: bytes}.Named("L1-memory"), float64(tau*bytes)/8)
		}
	}
	for _, off := range []bool{false, true} {
		for _, stride := range []int{1, 4} {
			k := params.Key{Kind: params.AccessCell, Placement: numa.Local, OffCache: off, Tau: 1, Bytes: 1024 * 8 * stride}.Named(fmt.Sprintf("read-float64-%d", stride))
			add(k, float64(1024*stride))
		}
		add(params.Key{Kind: params.PackCell, Placement: numa.Local, OffCache: off, Tau: 1, Bytes: 4096}.Named("4K16S"), 900)
	}
	add(params.Key{Kind: params.PatternCell, Placement: numa.Local, Tau: 4, Bytes: 1024}.Named("permutation-1"), 3000)
	add(params.Key{Kind: params.DiskCell, Placement: numa.Local, Tau: 1, Bytes: 4096}.Named("read-direct"), 9e4)
	return m
}
