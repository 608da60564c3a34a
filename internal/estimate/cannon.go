package estimate

import (
	"fmt"
	"math"

	"github.com/taulop/taulop/internal/survey/access"
)

// A Cannon is Cannon's multiplication A = B·C of float64 matrices on P = Q × Q ranks, N × N elements each
// (usc-hpc-benchmarks-1999, section 6): Q steps, between which blocks of B move left and blocks of C up.
type Cannon struct {
	N int `json:"n"`
	P int `json:"P"`
}

// Variants: with columns of C, and with rows of C transposed.
const (
	Plain      = "cannon"
	Transposed = "cannon-transposed"
)

// Limits of a Cannon. The largest takes minutes.
const (
	leastN = 8
	mostN  = 2048
	mostP  = 1024
)

// Check refuses sizes beyond the limits, and ranks that are no square.
func (c Cannon) Check() error {
	switch q := c.q(); {
	case c.N < leastN || c.N > mostN:
		return fmt.Errorf("matrices of %d × %d elements on a rank: give a number from %d to %d", c.N, c.N, leastN, mostN)
	case c.P < 1 || c.P > mostP || q*q != c.P:
		return fmt.Errorf("%d ranks make no square: give 1, 4, 9 or 16", c.P)
	}
	return nil
}

// q is the side of the square of ranks.
func (c Cannon) q() int { return int(math.Sqrt(float64(c.P))) }

// Program is the program of a rank.
func (c Cannon) Program(variant string) *Program {
	n, steps := Number(c.N), Number(c.q())
	p := &Program{Name: "Cannon's matrix multiplication", Ranks: Number(c.P)}
	add := func(h Phase) { p.Phases = append(p.Phases, h) }
	dot := Phase{Name: "rows of B by columns of C", Pass: access.Dot, N: n, Stride: n, Times: steps * n * n}
	if variant == Transposed {
		p.Name += ", C transposed"
		add(Phase{Name: "transposition: reading rows", Pass: "read", N: n * n})
		add(Phase{Name: "transposition: writing columns", Pass: "write", N: n, Stride: n, Times: n})
		dot = Phase{Name: "rows of B by rows of C", Pass: access.Dot, N: n * n, Times: steps * n}
	}
	add(dot)
	add(Phase{Name: "sums into A", Pass: "multiply", N: n * n, Times: steps})
	if c.P > 1 {
		add(Phase{Name: "blocks of B and C", Message: Permutation, Bytes: 8 * n * n, Times: 2 * (steps - 1)})
	}
	for i := range p.Phases {
		h := &p.Phases[i]
		if h.Pass != "" {
			h.Type = "float64"
		}
		if err := h.settle(c.P); err != nil { // a test covers the smallest and the largest Cannon
			panic(err)
		}
	}
	return p
}

// The elements of B and C are small whole numbers, so that sums are exact.
func elementOfB(row, column int) float64 { return float64((7*row+3*column)%11 - 5) }
func elementOfC(row, column int) float64 { return float64((5*row+13*column)%9 - 4) }
