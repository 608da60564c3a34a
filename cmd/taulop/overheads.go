package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/params"
)

// A sweptFile is the file of -params in a state of the machine, with the cache state of a
// benchmark's buffers.
type sweptFile struct {
	params   string
	state    stateChoice
	offCache bool
}

func (s *sweptFile) add(flags *argument.Set, usage string) {
	flags.StringVar(&s.params, "params", "", usage)
	argument.Var(flags, &s.offCache, "cache", "in", "benchmark's buffers `in|off` cache", argument.Cache, "in", "off")
	s.state.add(flags, mixture)
}

// read reads the file. Without -state it prints that its values are means over all states: the
// benchmarks' state is unknown.
func (s *sweptFile) read(errOut io.Writer) (*params.File, error) {
	f, err := readParameters("params", s.params)
	if err != nil {
		return nil, err
	}
	m := compare.Machine{Path: s.params, File: f}
	if err := s.state.one(&m); err != nil {
		return nil, err
	}
	if states := m.File.States(); len(states) > 0 {
		tell(errOut, "%s was measured in several states of the machine, in which a flag takes %s, and benchmarks do not say in which their messages went: what is taken from it are means over all by their shares, unless -state chooses one", s.params, params.StateList(states))
	}
	return m.File, nil
}

// overheadsFlags is import -overheads.
func overheadsFlags(flags *argument.Set) action {
	var (
		pings   string
		native  sweptFile
		library *mpi.Library
		output  output
	)
	flags.StringVar(&pings, "overheads", "", "`file` of an MPI library's ping-pongs to take o(m) from")
	native.add(flags, "the parameter `file` that has the transfers")
	argument.Var(flags, &library, "as", "", "the MPI `library` whose transports the ping-pongs used: "+strings.Join(libraryNames(), ", "), mpi.Named, libraryNames()...)
	flags.Rules(argument.Rule{Flags: "overheads", Needs: "params", Why: "takes a file of ping-pongs and one of parameters", Do: "taulop import -overheads IMB.txt -params host.json -o out.json"})
	output.add(flags, "write to a new `file`")
	return func(_ context.Context, out, errOut io.Writer, _ []string) error {
		f, err := native.read(errOut)
		if err != nil {
			return err
		}
		results, err := mpibench.ReadFile(pings)
		if err != nil {
			return usagef("-overheads: %v", err)
		}
		if library != nil {
			err = verify.Overheads(f, model.Choice{As: library, OffCache: native.offCache, Buffers: params.Unchanged}, results.Times)
		} else {
			err = mpibench.TakeOverheads(f, results.Times, native.offCache)
		}
		if err != nil {
			return usagef("-overheads %s -params %s: %v", pings, native.params, err)
		}
		ofLibrary(f, "o(m)", []string{pings})
		takeGamma(errOut, f, []string{pings}, results.Times, native.offCache)
		if err := f.Validate(); err != nil {
			return usagef("%s: %v", native.params, err)
		}
		return putFile(out, errOut, &output, f)
	}
}

// takeGamma adds the γ of outputs to a file, and prints what it added.
func takeGamma(errOut io.Writer, f *params.File, outputs []string, times []mpibench.Time, off bool) {
	if i := slices.IndexFunc(times, func(t mpibench.Time) bool { return t.Kind == mpibench.Reduction }); off && i >= 0 {
		tell(errOut, "left out: %s: γ is of vectors in cache, whatever a message's: run it with buffers in cache, and import that first", times[i].Benchmark)
		return
	}
	operators, leftOut := mpibench.TakeGamma(f, times)
	for _, o := range leftOut {
		tell(errOut, "left out: %s: %s", o.Benchmark, o.Why)
	}
	for _, operator := range operators {
		tell(errOut, "γ of %s is what MPI_Reduce_local took in %s", operator, printable.List(outputs))
		ofLibrary(f, "γ of "+operator, outputs)
	}
}

// ofLibrary notes in a file that a parameter is an MPI library's, and removes older notes about it.
func ofLibrary(f *params.File, parameter string, outputs []string) {
	note := parameter + " is that of "
	f.Warnings = slices.DeleteFunc(f.Warnings, func(w string) bool { return strings.HasPrefix(w, note) })
	names := lists.Map(outputs, filepath.Base)
	f.Warn(fmt.Errorf("%s%s: predictions are of that library", note, printable.List(names)))
}
