// Fleet makes files of many machines from the file of one, to time their comparison: machines differ by 2 %
// at random, cells by 1 %, and on every 500th machine concurrent transfers take 30 % longer.
//
//	go run ./bench/fleet BASE.json N DIR
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/taulop/taulop/params"
)

// slow reports whether a machine differs.
func slow(i int) bool { return i%500 == 7 }

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("got %d arguments, want 3: fleet BASE.json N DIR", len(args))
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	base, err := params.ReadFile(args[0])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(args[2], 0o755); err != nil {
		return err
	}
	for i := range n {
		if err := write(filepath.Join(args[2], fmt.Sprintf("node%05d.json", i)), machine(base, i)); err != nil {
			return err
		}
	}
	return nil
}

// machine is the i-th, a variation of base.
func machine(base *params.File, i int) *params.File {
	random := rand.New(rand.NewPCG(10_000, uint64(i)))
	f := *base
	f.Provenance.Hostname = fmt.Sprintf("node%05d", i)
	f.Cells = append([]params.Cell(nil), base.Cells...)
	speed := 1 + 0.02*random.NormFloat64()
	for at := range f.Cells {
		c := &f.Cells[at]
		by := speed * (1 + 0.01*random.NormFloat64())
		if slow(i) && c.Kind == params.TransferCell && c.Tau > 1 {
			by *= 1.3
		}
		c.Samples = append([]params.Sample(nil), c.Samples...)
		for j := range c.Samples {
			c.Samples[j].NS *= by
		}
		c.Time = c.Time.Scale(by)
	}
	return &f
}

func write(path string, f *params.File) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := f.Write(out); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return out.Close()
}
