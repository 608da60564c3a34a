package chart

import (
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A node of many cores is drawn in rows, and every process is there.
func TestNodesOfManyCores(t *testing.T) {
	node := Nest{Name: "node"}
	for i := range 8 {
		part := Nest{}
		for j := range 8 {
			part.Parts = append(part.Parts, Nest{Text: fmt.Sprint(8*i + j)})
		}
		node.Parts = append(node.Parts, part)
	}
	for _, tt := range []struct {
		most int
		want []int // cores of the rows
	}{{64, []int{64}}, {20, []int{16, 16, 16, 16}}, {5, []int{5, 3, 5, 3, 5, 3, 5, 3, 5, 3, 5, 3, 5, 3, 5, 3}}} {
		var got []int
		for _, row := range node.rows(tt.most) {
			got = append(got, row.cores())
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%d in a row: rows of %v, want %v", tt.most, got, tt.want)
		}
	}
	c := &Chart{Panels: []Panel{{Name: "processes", Nests: []Nest{node}}}}
	for _, cm := range []vg.Length{8, 17} {
		l := c.layout(cm * vg.Centimeter)
		w := &witness{}
		l.draw(draw.NewCanvas(w, l.width, l.height))
		for process := range 64 {
			if !slices.Contains(w.texts, fmt.Sprint(process)) {
				t.Errorf("%g cm: no process %d", float64(cm), process)
			}
		}
	}
}
