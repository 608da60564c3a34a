package params

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/contains"
)

func TestDecodeJSON(t *testing.T) {
	for _, tt := range []struct{ name, text, says string }{
		{"no list", `{"hostname": "a-b,3-9 \" 0-99999999"}`, ""},
		{"a large machine", `{"levels": [` + many(`{"level": "L%d", "cpus": ["0-4095", "4096-8191"]}`, 16) + `]}`, ""},
		{"one long list", `{"cpus_online": "0-99999999999"}`, "f:1: more than 4194304 CPUs in lists"},
		{"many short lists", `{"levels": [` + many(`{"%d": "0-8191"}`, 600) + `]}`, "CPUs in lists"},
		{"many short lists, escaped", `{"levels": [` + many(`"\u0030-8191", %d`, 600) + `]}`, "CPUs in lists"},
		{"one list of many parts", `{"cpus": "` + strings.Repeat("0-8191,", 600) + `"}`, "CPUs in lists"},
		{"what editors add", "\xef\xbb\xbf{\"a\": 1}\x1a", ""},
		{"another case", `{"A": 7}`, ""},
		{"no UTF-8", "{\"b\": \"\xff\"}", ""},
		{"cut", "{\"a\":\n", "f:2: the file ends in the middle of a value; it was cut off"},
		{"twice", "{\"a\": 1,\n\"a\": 2}", `f:2: "a" is there twice`},
		{"twice, in another case", "{\"a\": 1,\n\"A\": 2}", `f:2: "A" is there twice`},
		{"another type", "\n{\n\"a\": \"1\"}", "f:3: string where a value like int belongs"},
		{"no whole number", "{\"a\":\n1.5}", "f:2: 1.5 where a value like int belongs"},
		{"two", "{}\n{}", `f:2: "{}" where the end of the file belongs`},
	} {
		var doc struct {
			A int `json:"a"`
		}
		contains.Error(t, DecodeJSON([]byte(tt.text), "f", &doc), tt.says)
	}
}
