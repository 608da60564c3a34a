package report

import (
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/verify"
)

func againstDocument() *Against {
	candidate := func(algorithm string, measured float64, ns ...float64) verify.Candidate {
		c := verify.Candidate{Algorithm: algorithm}
		for i, p := range ns {
			c.Models = append(c.Models, verify.Prediction{Model: verify.AgainstModels[i], Ns: p, Error: (p - measured) / measured, Extrapolated: p == 4000})
		}
		return c
	}
	alone := func(ns float64) fit.Estimate { return fit.Median([]float64{ns}) }
	nearest := candidate("bcast:linear", 3000, 3300, 3600)
	a := &Against{
		Source: predict.Source{Machine: "host", File: "host.json", Model: "τ-Lop", Transport: "segmented", Segment: 32768,
			Measured: "m from 1 to 4M and τ from 1 to 2", Rule: "lines go on"},
		Output: "imb.txt",
		Rows: []verify.Compared{
			{Suite: "IMB", Benchmark: "PingPong", P: 2, Bytes: 8192, Measured: fit.Estimate{Center: 1600, Lo: 1570, Hi: 1650, N: 9}, Predicted: candidate("", 1600, 1680, 1680)},
			{Suite: "IMB", Benchmark: "PingPong", P: 2, Bytes: 16384, Measured: alone(200), Predicted: candidate("", 200, 4000, 190)},
			{Suite: "IMB", Benchmark: "Bcast", P: 4, Bytes: 8192, Measured: alone(3000), Predicted: candidate("bcast:binomial", 3000, 1500, 1800), Nearest: &nearest},
		},
		LeftOut: []mpibench.Omission{
			{Benchmark: "Uniband", Line: 30, Why: "taulop predicts nothing like it"},
			{Benchmark: "Bcast", Line: 40, Why: "a collective of 0 bytes moves nothing"},
			{Benchmark: "Gather", Line: 50, Why: "a collective of 0 bytes moves nothing"},
		},
	}
	a.Means = verify.AgainstMeans(a.Rows)
	return a
}

// Of the rest of the text cmd/taulop has transcripts.
const againstText = `
Left out: Uniband (line 30): taulop predicts nothing like it.
Left out: Bcast (line 40), Gather (line 50): a collective of 0 bytes moves nothing.
`
