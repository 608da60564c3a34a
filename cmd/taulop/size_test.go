package main

import (
	"strings"
	"testing"
)

func TestParseSize(t *testing.T) {
	tests := []struct {
		text  string
		bytes int
		label string
		err   string
	}{
		{"8", 8192, "8KB", ""}, // the paper's commands: KB
		{"8K", 8192, "8KB", ""},
		{"8kb", 8192, "8KB", ""},
		{"8KiB", 8192, "8KB", ""},
		{"64B", 64, "64B", ""},
		{"1M", 1 << 20, "1MB", ""},
		{"1024K", 1 << 20, "1024KB", ""},
		{"2G", 2 << 30, "2GB", ""},
		{"0", 0, "0B", ""},
		{"", 0, "", "not a size"},
		{"K", 0, "", "not a size"},
		{"-8", 0, "", "not a size"},
		{"1.5K", 0, "", "not a size"},
		{"8X", 0, "", "not a size"},
		{"8KK", 0, "", "not a size"},
		{"99999999999999999999", 0, "", "too large"},
		{"9007199254740993K", 0, "", "too large"},
	}
	for _, tt := range tests {
		bytes, label, err := parseSize(tt.text, 1<<10)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("parseSize(%q): error %v, want one with %q", tt.text, err, tt.err)
			}
		} else if err != nil || bytes != tt.bytes || label != tt.label {
			t.Errorf("parseSize(%q) = %d, %q, %v; want %d, %q", tt.text, bytes, label, err, tt.bytes, tt.label)
		}
	}
}

// Whatever is accepted names the same size again by its label.
func FuzzParseSize(f *testing.F) {
	for _, seed := range []string{"8", "64B", "8K", "1M", "2GiB", "0", "9223372036854775807B", "-1", "8KK"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bytes, label, err := parseSize(text, 1<<10)
		if err != nil {
			return
		}
		again, same, err := parseSize(label, 1<<10)
		if err != nil || bytes < 0 || again != bytes || same != label {
			t.Errorf("parseSize(%q) = %d %q, and that label is %d %q %v", text, bytes, label, again, same, err)
		}
	})
}
