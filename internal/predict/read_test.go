package predict

import (
	"bytes"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/view"
)

func TestRead(t *testing.T) {
	one := machineOf("a", call("bcast", "linear", 8, 4), call("bcast", "binomial", 8, 2))
	lo, hi := 1.5, 2.5
	one.Rows[1].Lo, one.Rows[1].Hi = &lo, &hi
	both := NewMachines([]*Predictions{one, machineOf("b", call("bcast", "linear", 8, 3))}, nil, fit.Test{})
	for kind, doc := range map[string]any{"taulop predict": one, "taulop predict machines": both} {
		var b bytes.Buffer
		must.Do(view.WriteJSON(&b, kind, 1, "", doc))
		d := must.Get(Read(&b, "a.json"))
		check.True(t, len(d.Rows) == 2 && d.Rows[0].Machine == "a" && d.Rows[0].Microseconds+d.Rows[1].Microseconds >= 5, "%+v", d)
	}
	for text, want := range map[string]string{
		`{"format":"taulop predict","rows":[]}`:                                                                                                                          "a.json has no costs",
		`{"format":"taulop verify","rows":[]}`:                                                                                                                           "not what taulop predict writes",
		`{"format":"taulop predict","rows":[{"collective":"bcast","algorithm":"x","P":0}]}`:                                                                              "row 1: bcast:x has P = 0",
		`{"format":"taulop predict","rows":[{"collective":"bcast","algorithm":"x","P":2,"cost_us":-1}]}`:                                                                 "has no cost",
		`{"format":"taulop predict","rows":[{"collective":"bcast","algorithm":"x","P":2,"cost_us":1,"lo_us":2,"hi_us":3}]}`:                                              "not within [2, 3]",
		`{"format":"taulop predict machines","machines":[{"machine":"a"}],"rows":[{"machine":"b","of":"bcast","collective":"bcast","algorithm":"x","P":2,"cost_us":1}]}`: `"b" is none of the machines`,
		``: "a.json is empty: this is not what taulop predict writes",
	} {
		contains.Error(t, must.Err(Read(strings.NewReader(text), "a.json")), want)
	}
}
