package view

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// Empty lists are [] at any depth, unless their type writes its own JSON or they may be left out.
func TestWriteJSON(t *testing.T) {
	type row struct {
		Samples []float64 `json:"samples"`
	}
	document := struct {
		row
		Rows     []row       `json:"rows"`
		Result   *row        `json:"result"`
		None     *row        `json:"none"`
		Allowed  numa.CPUSet `json:"allowed"`
		Warnings []string    `json:"warnings,omitempty"`
	}{Rows: []row{{}}, Result: &row{}}
	var b strings.Builder
	must.Do(WriteJSON(&b, "taulop x", 1, "so", &document))
	want := `{"format":"taulopx","version":1,"answer":"so","samples":[],"rows":[{"samples":[]}],"result":{"samples":[]},"none":null,"allowed":""}`
	if got := strings.NewReplacer(" ", "", "\n", "").Replace(b.String()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if document.Warnings != nil {
		t.Error("a list that is left out is there")
	}
	b.Reset()
	if err := WriteJSON(&b, "taulop x", 2, "", struct{}{}); err != nil || b.String() != "{\n  \"format\": \"taulop x\",\n  \"version\": 2\n}\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
