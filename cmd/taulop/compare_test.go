package main

import (
	"encoding/json"
	"math"
	"testing"
)

// What was read has the law that the files were made by.
func TestCompareFindsTheLaw(t *testing.T) {
	dir := t.TempDir()
	out, _ := ran(t, "compare", "-json", node(t, dir, "old", 1000, 0.3, 0.02, 1, 2, 3, 4, 6, 8), node(t, dir, "modern", 1001, 0.05, 0.001, 1, 2, 3, 4, 6, 8))
	var doc struct {
		Tables []struct {
			Rows []struct {
				Machine     string
				Scalability struct{ Sigma, Kappa struct{ Value float64 } }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][2]float64{{0.3, 0.02}, {0.05, 0.001}} {
		s := doc.Tables[0].Rows[i].Scalability
		if math.Abs(s.Sigma.Value-want[0]) > 0.02 || math.Abs(s.Kappa.Value-want[1]) > 0.003 {
			t.Errorf("%s: %+v, want %v", doc.Tables[0].Rows[i].Machine, s, want)
		}
	}
}
