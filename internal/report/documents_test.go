package report

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/view"
)

// Each result has its text, and its JSON can be read again without loss.
func TestDocuments(t *testing.T) {
	for _, tt := range []struct {
		d    *document.Document
		want string
		rows int // of values
	}{
		{Verification(measuredCalls()), verificationText, 4}, {againstDocument().Document(), againstText, 3}, {Patterns(measuredPatterns(t)), patternsText, 4},
	} {
		var text, value, again, values strings.Builder
		if err := tt.d.WriteCSV(&values); err != nil || strings.Count(values.String(), "\n") != 1+tt.rows {
			t.Errorf("%v, want %d rows\n%s", err, tt.rows, &values)
		}
		if tt.d.WriteText(&text); !strings.Contains(text.String(), tt.want) {
			t.Errorf("got\n%s\nwant\n%s", &text, tt.want)
		}
		must.Do(tt.d.WriteJSON(&value))
		back := reflect.New(reflect.TypeOf(tt.d.Value).Elem()).Interface()
		must.Do(json.Unmarshal([]byte(value.String()), back))
		if err := view.WriteJSON(&again, tt.d.Kind, tt.d.Version, tt.d.Answer(), back); err != nil || again.String() != value.String() {
			t.Errorf("%v\n%s\nbecame\n%s", err, &value, &again)
		}
	}
}
