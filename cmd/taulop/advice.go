package main

import (
	"errors"
	"strings"

	"github.com/taulop/taulop/internal/chart"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey/network"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// advice maps errors of packages, which know no flags, to the flags that help.
var advice = []struct {
	of    error
	flags string
}{
	{chart.ErrFewer, "-setup, -placement, -cache, -m, -tau, -variant"},
	{chart.ErrNamed, "-variant, like -variant \"cache out\""},
	{chart.ErrOthers, "-m, -tau, -setup, -variant; of verify's files -P, -cache"},
	{compare.ErrChoice, "-setup, -placement, -cache, -m"},
	{compare.ErrMissing, "taulop sweep -o"},
	{compare.ErrPublished, "-as ring"},
	{compare.ErrSize, "taulop sweep -m"},
	{model.ErrUnpaired, "taulop pairs -smt"},
	{model.ErrUnplaced, "-placement"},
	{network.ErrMemory, "-memory there; -m, -tau"},
	{network.ErrNobody, "taulop net -listen"},
	{network.ErrSecret, "-secret"},
	{params.ErrCoreKinds, "-cpus"},
	{params.ErrNoTransport, "taulop sweep -with cma -o FILE"},
	{params.ErrUnfinished, "taulop sweep -resume FILE"},
	{params.ErrUnmeasured, "taulop net -time"},
	{params.ErrUnpacked, "taulop sweep -with pack -o FILE"},
	{processmap.ErrHosts, "-hosts a,b"},
	{processmap.ErrNoDocument, "taulop map -json"},
	{report.ErrNoComparison, "taulop verify -against TABLE -json"},
	{predict.ErrNoPrediction, "taulop predict -json"},
	{report.ErrNoVerification, "taulop verify -json"},
	{report.ErrUnpredicted, "-time, -params"},
	{setups.ErrNoRoom, "SIZE, TAU, -kmax; of a sweep -segment, -tau, -m"},
	{sweep.ErrThere, "-resume, -force"},
	{tidy.ErrAbsent, "-name"},
	{tidy.ErrUnplaced, "-cores same_socket=28,other_socket=56"},
	{transfers.ErrCPUs, "-node, or taskset"},
	{transfers.ErrUnusable, "taulop sweep -o"},
	{verify.ErrShort, "-m"},
}

// advised adds the flags that help to the errors among args.
func advised[T any](args []T) []T {
	all := make([]T, len(args))
	for i, arg := range args {
		all[i] = arg
		err, _ := any(arg).(error)
		for _, a := range advice {
			if errors.Is(err, a.of) {
				all[i] = any(error(advisedError{err, a.of.Error(), a.flags})).(T)
			}
		}
	}
	return all
}

// An advisedError names flags after the advice in its text.
type advisedError struct {
	error
	help, flags string
}

func (e advisedError) Error() string {
	text := e.error.Error()
	if before, after, found := strings.Cut(text, e.help); found {
		return before + e.help + " (" + e.flags + ")" + after
	}
	return text + " (" + e.flags + ")"
}

func (e advisedError) Unwrap() error { return e.error }
