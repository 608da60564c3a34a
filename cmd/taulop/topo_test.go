package main

import (
	"encoding/json"
	"testing"

	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

func TestTopoHere(t *testing.T) {
	if _, err := numa.Discover("/"); err != nil {
		t.Skip(err)
	}
	text, _ := ran(t, "topo", "-json")
	var got report.Topology
	must.Do(json.Unmarshal([]byte(text), &got))
	if got.PUs < 1 || got.Cores < 1 || got.PUs < got.Cores || got.Packages < 1 || got.Nodes < 1 || got.Provenance.Go == "" {
		t.Errorf("got %s", text)
	}
}
