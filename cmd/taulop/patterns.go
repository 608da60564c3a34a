package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/params"
)

// choosePatterns finds the patterns of verify -patterns. The permutation is always
// one of them: the others are predicted from it.
func (req *verifyRequest) choosePatterns() error {
	if len(req.names) == 0 {
		req.names = verify.PatternNames()
		return nil
	}
	names := []string{verify.Permutation}
	for _, name := range req.names {
		if _, err := verify.LookupPattern(name); err != nil {
			return usageError(err.Error())
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	req.names = names
	return nil
}

func (req *verifyRequest) checkPatterns() error {
	if !req.patterns {
		return nil
	}
	slices.Sort(req.ms)
	if n := len(req.ms); n < verify.LeastPatternSizes {
		return usagef("-m has %s: a line is fitted to some and tested on others, so give %d or more, like 1K:4M", count(n, "size"), verify.LeastPatternSizes)
	}
	if req.variants < 0 {
		return usagef("-variants is %d: give a number from 1 up, or 0 for all", req.variants)
	}
	if req.save != "" {
		if outfile.Replaces(req.save) {
			return usagef("-save %s is there already: choose another file", req.save)
		}
	}
	if err := writable(req.save); err != nil {
		return usagef("-save %s cannot be written: %v", req.save, err)
	}
	return nil
}

// savePatterns writes -save, if it is given and any pattern was measured; to out if
// the file cannot be written.
func (req *verifyRequest) savePatterns(out io.Writer, r verify.Runs) (saved bool, err error) {
	if req.save == "" || !slices.ContainsFunc(r.File.Cells, func(c params.Cell) bool { return c.Kind == params.PatternCell }) {
		return false, nil
	}
	for _, w := range req.warnings {
		if !slices.Contains(r.File.Warnings, w) {
			r.File.Warnings = append(r.File.Warnings, w)
		}
	}
	for p, forced := range r.Forced {
		if forced {
			r.File.Warn(fmt.Errorf("message patterns among %d ranks that shared fewer CPUs: their times are no measurement", p))
		}
	}
	return true, put(out, req.save, r.File.Write)
}

// patternCases are the variants to carry out, in the order of the report.
func (req *verifyRequest) patternCases() (cases []verify.Case, err error) {
	for _, p := range req.ps {
		for _, off := range req.caches {
			for _, name := range req.names {
				pattern, err := verify.LookupPattern(name)
				if err != nil {
					return nil, usageError(err.Error())
				}
				of, leftOut, err := pattern.Cases(p, req.ms, off, req.variants)
				if err != nil {
					return nil, usageError(err.Error())
				}
				if leftOut > 0 && off == req.caches[0] {
					req.warnings = append(req.warnings, fmt.Sprintf("P = %d: %d variants of %s were left out, -variants 0 measures all", p, leftOut, name))
				}
				cases = append(cases, of...)
			}
		}
	}
	return cases, nil
}

// patternDocument puts beside each pattern what is predicted.
func (req *verifyRequest) patternDocument(r verify.Runs, request verify.Request, predictor verify.Predictor, here provenance.Provenance) (all verified, lacking, err error) {
	doc := &report.Patterns{Provenance: here, Parameters: req.source(), Segments: request.Segments, SegmentBytes: request.SegmentBytes,
		ArenaBytes: req.arena(request), Rounds: r.Launches(), FittedSizes: verify.FittedSizes(req.ms), Warnings: req.warnings}
	for _, name := range req.names {
		pattern, err := verify.LookupPattern(name)
		if err != nil {
			return nil, nil, err
		}
		doc.Patterns = append(doc.Patterns, pattern)
	}
	var unfitted error
	if doc.Fits, unfitted = r.PatternFits(); unfitted != nil {
		unfitted = usagef("%v", unfitted)
		req.warnings = append(req.warnings, unfitted.Error())
	}
	doc.Rows, lacking = r.PatternRows(predictor, doc.Fits)
	if lacking = req.lacking(lacking); lacking == nil && unfitted != nil {
		lacking = unfitted
	}
	doc.Means, doc.Warnings = verify.PatternMeans(doc.Rows), req.warnings
	return doc, lacking, nil
}
