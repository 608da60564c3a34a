package tidy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// collectiveOf is the name of the row's collective in package collective, or the row's if that has none.
func collectiveOf(r *row) string {
	word := r.word("collective")
	name := strings.ToLower(word)
	name = strings.TrimPrefix(strings.TrimPrefix(name, "mpi_"), "osu_")
	if collective.Named(name) == nil {
		name = printable.Name(name)
	}
	if name == "" {
		r.fail("collective is -: say which one it was")
	}
	return name
}

// counted is the meaning of a collective's sizes.
type counted int

const (
	asHere    counted = iota // m of a call
	blocks                   // one rank's block
	vectors                  // a rank's whole vector
	benchmark                // the size that OSU's benchmark prints
)

// count converts sizes to m of calls. A line of the head tells their meaning, such as
//
//	m_bytes: allgather, alltoall: the block of one rank; allreduce: the vector
//
// else they are as printed by OSU if the head names it, or m. It fails for sizes beyond a message.
func (t *Table) count() error {
	meanings := make(map[string]counted) // by collective
	rest := asHere
	for _, line := range t.Head {
		if strings.Contains(line, "OSU") {
			rest = benchmark
		}
		_, text, found := strings.Cut(line, "m_bytes:")
		if !found {
			continue
		}
		for _, part := range strings.Split(text, ";") {
			names, meaning, _ := strings.Cut(part, ":")
			for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' }) {
				switch {
				case collective.Named(name) == nil:
				case strings.Contains(meaning, "block"):
					meanings[name] = blocks
				case strings.Contains(meaning, "vector") || strings.Contains(meaning, "message") || strings.Contains(meaning, "total") || strings.Contains(meaning, "whole"):
					meanings[name] = vectors
				}
			}
		}
	}
	for i := range t.Collectives {
		c := &t.Collectives[i]
		how, known := meanings[c.Collective]
		if !known {
			how = rest
		}
		if c.Bytes = sizeOf(collective.Named(c.Collective), how, c.Size, c.P); c.Bytes < 0 {
			return fmt.Errorf("%s:%d: m_bytes is %d, the block of each of %d ranks: all blocks together have at most %d bytes", t.Name, c.Line, c.Size, c.P, params.MostBytes)
		}
	}
	return nil
}

// sizeOf is m of a call of p ranks; −1: more than a message may have.
func sizeOf(c *collective.Collective, how counted, size, p int) int {
	if c == nil {
		return size
	}
	if c.Empty() {
		return 0
	}
	// m may be one rank's block of a larger vector.
	call := collective.Call{P: 2, M: 1}
	switch spread := max(lists.Sum(c.Promise(call, 0), collective.Part.Size), c.Brings(call, 0).Bytes) > call.M; {
	case how == blocks && !spread && size > params.MostBytes/p:
		return -1
	case how == blocks && !spread:
		return size * p
	case how == vectors && spread:
		return (size + p - 1) / p
	case how == benchmark:
		i := slices.IndexFunc(c.Benchmarks, func(b collective.Benchmark) bool { return b.Suite == "OSU" })
		if i >= 0 && c.Benchmarks[i].M != nil {
			return c.Benchmarks[i].M(size, p)
		}
	}
	return size
}
