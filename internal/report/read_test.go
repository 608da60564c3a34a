package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

func TestReadBadVerifications(t *testing.T) {
	var b bytes.Buffer
	v := measuredCalls()
	v.Models = nil // which have names of models, too
	must.Do(Verification(v).WriteJSON(&b))
	good := b.String()
	twice := measuredCalls()
	twice.Rows = append(twice.Rows, twice.Rows[0])
	var repeated bytes.Buffer
	must.Do(Verification(twice).WriteJSON(&repeated))
	for _, tt := range []struct{ text, want string }{
		{"", "v.json is empty"},
		{" \n", "v.json is empty"},
		{"#m\t30\n#tau\t8\n", "v.json:1: "},
		{good[:len(good)/2], "v.json:"},
		{"[]", "v.json:1: "},
		{"{}", "no rows"},
		{`{"format": "taulop parameters", "version": 1}`, "what taulop verify writes"},
		{`{"format": "taulop parameters", "warnings": [1], "rows": [2]}`, "v.json holds the parameters of a machine"},
		{strings.Replace(good, `"P": 2`, `"P": "two"`, 1), "v.json:"},
		{strings.Replace(good, `"P": 2`, `"P": 0`, 1), "row 1: message has P = 0"},
		{strings.Replace(good, `"m": 8192`, `"m": -8192`, 1), "m = -8192"},
		{strings.Replace(good, `"message"`, `""`, 1), "is no name"},
		{strings.Replace(good, `"center": 1600`, `"center": null`, 1), "no time"},
		{strings.Replace(good, `"center": 1600`, `"center": -1`, 1), "no time"},
		{strings.Replace(good, `"center": 1600`, `"center": 1e999`, 1), "v.json:"},
		{strings.Replace(good, `"lo": 1568`, `"lo": 1700`, 1), "no time"},
		{strings.Replace(good, `"log_nP"`, `"lognP"`, 1), `"lognP" where one of the next of`},
		{strings.Replace(good, `"ns": `, `"ns": -`, 1), "no time is negative"},
		{strings.Replace(good, `"P": 2`, `"P": 2, "P": 4`, 1), "there twice"},
		{strings.Replace(good, `"P": 2`, `"P": 2, "p": 4`, 1), "there twice"},
		{strings.Replace(good, `"cpus_online": "`, `"cpus_online": "0-99999999,`, 1), "CPUs in lists"},
		{repeated.String(), "is there twice, first in row 1"},
	} {
		if tt.text == good {
			t.Fatalf("nothing is bad about the case %q", tt.want)
		}
		v, err := ReadVerification(strings.NewReader(tt.text), "v.json")
		if err == nil || v != nil || !strings.HasPrefix(err.Error(), "v.json") || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v; want one line with %q", tt.text, err, tt.want)
		}
	}
}
