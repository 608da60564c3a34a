package infile

import (
	"fmt"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		file   string
		texts  string // of the lines, | between them
		number int
		size   int
		err    string
	}{
		{"", "", 0, 0, "<nil>"},
		{"\ufeffa\r\nb", "a|b", 2, 7, "<nil>"},
		{"a\n\ufeffb\n", "a|\ufeffb", 2, 7, "<nil>"},
		{"a\n0123456789\n", "a", 2, 2, "f:2: a line of more than 10 bytes: break it"},
	} {
		lines := NewLines(strings.NewReader(tt.file), "f", 10)
		var texts []string
		for lines.Scan() {
			texts = append(texts, lines.Text())
			if ended := lines.Number < tt.number || strings.HasSuffix(tt.file, "\n"); lines.Cut == ended {
				t.Errorf("%q: line %d is cut: %v", tt.file, lines.Number, lines.Cut)
			}
		}
		if got := strings.Join(texts, "|"); got != tt.texts || lines.Number != tt.number || lines.Size != tt.size || fmt.Sprint(lines.Failed("break it")) != tt.err {
			t.Errorf("%q: %q, %d lines of %d bytes, %v", tt.file, got, lines.Number, lines.Size, lines.Failed("break it"))
		}
	}
	if err := NewLines(strings.NewReader(""), "f", 10).Errorf("no %d", 1); err.Error() != "f:1: no 1" {
		t.Error(err)
	}
}
