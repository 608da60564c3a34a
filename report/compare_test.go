package report

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/taulop/taulop/compare"
	"github.com/taulop/taulop/params"
)

// FuzzCompare: whatever parameter files say, they can be compared, or a sentence
// says why not.
func FuzzCompare(f *testing.F) {
	const head = `{"format": "taulop parameters", "version": 1, "provenance": {"hostname": "a"},
"plan": {"setups": ["ring"], "placements": ["local"], "sizes": [8192], "taus": [1, 2], "segments": 2, "segment_bytes": 8192, "off_cache": [false], "budget_s": 1, "width": 0.1, "copy": "AVX"},
"placements": [], "complete": true, "seconds": 1, "warnings": [], "cells": [`
	one := head + `{"kind": "transfer", "setup": "ring", "placement": "local", "tau": 1, "bytes": 8192, "k": 1, "transfers": 2, "time_ns": [2000, 1990, 2010, 3], "samples_ns": [1990, 2000, 2010]},
{"kind": "transfer", "setup": "ring", "placement": "local", "tau": 2, "bytes": 8192, "k": 1, "transfers": 2, "time_ns": [3000, null, null, 1], "samples_ns": [3000]}]}`
	zero := strings.NewReplacer("[2000, 1990, 2010, 3]", "[0, 0, 0, 0]", "[3000, null, null, 1]", "[1e-320, 0, 1, 0]").Replace(one)
	both := strings.TrimSuffix(one, "]}") + `, {"kind": "pair", "placement": "cpus", "tau": 1, "bytes": 0, "variant": "0-1", "time_ns": [50, 49, 51, 3], "samples_ns": [49, 50, 51]}]}`
	f.Add(one, zero)
	f.Add(both, both)
	f.Add(both, strings.Replace(both, "[50, 49, 51, 3]", "[0, 0, 0, 0]", 1))
	f.Add(zero, one)
	f.Add(one, "#m\t1\n#tau\t2\n#m\to(m)\tL(m, 1)\tL(m, 2)\n8192\t0.0000005\t0.000001\t0.000002\n")
	if folder := os.Getenv("TAULOP_SHARED"); folder != "" {
		if text, err := os.ReadFile(folder + "/params/metropolis/SHM.txt"); err == nil {
			f.Add(string(text), one)
		}
	}
	read := func(name, text string) (compare.Machine, error) {
		m := compare.Machine{Name: name, Path: name}
		if !strings.HasPrefix(text, "#") {
			file, err := params.Read(strings.NewReader(text), name)
			m.File = file
			return m, err
		}
		table, err := params.ReadText(strings.NewReader(text), name)
		if err == nil {
			m.File = params.FromText(table, nil)
			m.Take("ring", "local")
		}
		return m, err
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		a, errA := read("a", first)
		b, errB := read("b", second)
		if errA != nil || errB != nil {
			return
		}
		var all []Compared
		if c, err := compare.New([]compare.Machine{a, b}, compare.Choice{}); err == nil {
			all = append(all, (*SideBySide)(c))
		}
		c := b
		c.Name = "c"
		if o, err := compare.NewOverview([]compare.Machine{a, b, c}, compare.Choice{}); err == nil {
			all = append(all, (*Overview)(o))
		}
		for _, compared := range all {
			var out bytes.Buffer
			compared.WriteText(&out, true)
			if out.Len() == 0 {
				t.Error("nothing written")
			}
			if err := compared.WriteCSV(&out); err != nil {
				t.Error(err)
			}
			if err := compared.WriteJSON(&out); err != nil {
				t.Error(err)
			}
		}
	})
}
