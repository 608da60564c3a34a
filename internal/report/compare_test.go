package report

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/params"
)

var number = regexp.MustCompile(`\b[0-9]+(\.[0-9]+)?\b`)

// FuzzCompare: whatever parameter files say, they can be compared, or a sentence
// says why not.
func FuzzCompare(f *testing.F) {
	const head = `{"format": "taulop parameters", "version": 1, "provenance": {"hostname": "a"},
"plan": {"setups": ["ring"], "placements": ["local"], "sizes": [8192], "taus": [1, 2], "segments": 2, "segment_bytes": 8192, "off_cache": [false], "budget_s": 1, "width": 0.1, "copy": "AVX"},
"placements": [], "complete": true, "seconds": 1, "warnings": [], "cells": [`
	one := head + `{"kind": "transfer", "setup": "ring", "placement": "local", "tau": 1, "bytes": 8192, "k": 1, "transfers": 2, "time_ns": [2000, 1990, 2010, 3], "samples":[[-1,1990,0,0],[-1,2000,0,0],[-1,2010,0,0]]},
{"kind": "transfer", "setup": "ring", "placement": "local", "tau": 2, "bytes": 8192, "k": 1, "transfers": 2, "time_ns": [3000, null, null, 1], "samples":[[-1,3000,0,0]]}]}`
	zero := strings.NewReplacer("[2000, 1990, 2010, 3]", "[0, 0, 0, 0]", "[3000, null, null, 1]", "[1e-320, 0, 1, 0]").Replace(one)
	both := strings.TrimSuffix(one, "]}") + `, {"kind": "pair", "placement": "cpus", "tau": 1, "bytes": 0, "variant": "0-1", "time_ns": [50, 49, 51, 3], "samples":[[-1,49,0,0],[-1,50,0,0],[-1,51,0,0]]}]}`
	texts := []string{one, zero, both, strings.Replace(both, "[50, 49, 51, 3]", "[0, 0, 0, 0]", 1),
		"#m\t1\n#tau\t2\n#m\to(m)\tL(m, 1)\tL(m, 2)\n8192\t0.0000005\t0.000001\t0.000002\n"}
	if directory := os.Getenv("TAULOP_SHARED"); directory != "" {
		if text, err := os.ReadFile(directory + "/params/metropolis/SHM.txt"); err == nil { // of which two rows are enough
			lines := strings.SplitN(string(text), "\n", 6)
			texts = append(texts, "#m\t2\n"+strings.Join(lines[1:5], "\n")+"\n")
		}
	}
	for i := range texts {
		f.Add(uint8(i), uint16(9), 2000., uint8(i+1), uint16(17), 0.)
		f.Add(uint8(i), uint16(40), 1e-320, uint8(i), uint16(50), 1e18)
	}
	// changed has another number somewhere. Inputs that are no text need no minimising,
	// which takes minutes where what a run covers depends on the order of maps; what is
	// no file at all is that of the readers' own targets.
	changed := func(which uint8, at uint16, v float64) string {
		text := texts[int(which)%len(texts)]
		places := number.FindAllStringIndex(text, -1)
		place := places[int(at)%len(places)]
		return text[:place[0]] + strconv.FormatFloat(v, 'g', -1, 64) + text[place[1]:]
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
	f.Fuzz(func(t *testing.T, first uint8, at1 uint16, v1 float64, second uint8, at2 uint16, v2 float64) {
		a, errA := read("a", changed(first, at1, v1))
		b, errB := read("b", changed(second, at2, v2))
		if errA != nil || errB != nil {
			return
		}
		var all []*document.Document
		if c, err := compare.New([]compare.Machine{a, b}, compare.Choice{}); err == nil {
			all = append(all, SideBySide(c))
		}
		c := b
		c.Name = "c"
		if o, err := compare.NewOverview([]compare.Machine{a, b, c}, compare.Choice{}); err == nil {
			all = append(all, Overview(o))
		}
		for _, compared := range all {
			var out bytes.Buffer
			compared.WriteText(&out)
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
