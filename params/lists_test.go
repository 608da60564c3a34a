package params

import (
	"strings"
	"testing"
)

func TestCheckLists(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		good       bool
	}{
		{"none", `{"hostname": "a-b,3-9 \" 0-99999999"}`, true},
		{"a large machine", `{"levels": [` + strings.Repeat(`{"level": "L3", "cpus": ["0-4095", "4096-8191"]},`, 16) + `]}`, true},
		{"one long", `{"cpus_online": "0-99999999999"}`, false},
		{"many short", `{"levels": [{"cpus": [` + strings.Repeat(`"0-8191",`, 600) + `]}]}`, false},
		{"many short, escaped", `{"levels": [{"cpus": [` + strings.Repeat(`"\u0030-8191",`, 600) + `]}]}`, false},
		{"one of many parts", `"` + strings.Repeat("0-8191,", 600) + `"`, false},
		{"cut", `{"cpus_online": "0-1`, true},
		{"cut within an escape", `{"cpus_online": "0-1\`, true},
	} {
		if err := checkLists(tt.text); (err == nil) != tt.good {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
