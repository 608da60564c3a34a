package argument

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestSize(t *testing.T) {
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
		bytes, label, err := Size(tt.text, 1<<10)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("Size(%q): error %v, want one with %q", tt.text, err, tt.err)
			}
		} else if err != nil || bytes != tt.bytes || label != tt.label {
			t.Errorf("Size(%q) = %d, %q, %v; want %d, %q", tt.text, bytes, label, err, tt.bytes, tt.label)
		}
	}
}

// A share is read with its sign or below 1, and never as more than is said.
func TestShare(t *testing.T) {
	for text, want := range map[string]string{
		"10%": "0.1", "10 %": "0.1", "10": "0.1", "0.1": "0.1", "1%": "0.01", "100%": "1", "0": "0", "0.5%": "0.005", "150": "1.5",
		"1": `"1" may be 1 % or all: give 1% or 100%`, "-1": `"-1" is no percentage: give one like 10%`, "x": `"x" is no percentage: give one like 10%`,
		"NaN": `"NaN" is no percentage: give one like 10%`, "300": `"300" is too much: give a percentage from 0 to 200, like 10%`,
	} {
		got, err := Share(2)(text)
		if s := fmt.Sprint(got); err != nil && err.Error() != want || err == nil && s != want {
			t.Errorf("%s: %v, %v; want %s", text, got, err, want)
		}
	}
}

func TestList(t *testing.T) {
	number := func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, fmt.Errorf("%q", text)
		}
		return n, nil
	}
	for _, tt := range []struct {
		text   string
		dashes bool
		want   []int // nil: refused
	}{
		{"4", true, []int{4}},
		{"2, 4,8,4", true, []int{2, 4, 8}},
		{"2-5,3-6", true, []int{2, 3, 4, 5, 6}},
		{"7-7", true, []int{7}},
		{"2:16", true, []int{2, 4, 8, 16}},
		{"3:20", true, []int{3, 6, 12, 20}},
		{"0:5", false, []int{0, 1, 2, 4, 5}},
		{"5:5", false, []int{5}},
		{"9223372036854775806:9223372036854775807", false, []int{9223372036854775806, 9223372036854775807}},
		{"2-5", false, nil},
		{"5-2", true, nil},
		{"8:4", true, nil},
		{"2-", true, nil},
		{":4", true, nil},
		{"", true, nil},
		{"1,,2", true, nil},
		{"1-20000", true, nil},
	} {
		got, err := List(tt.text, tt.dashes, number)
		if !slices.Equal(got, tt.want) || (err == nil) != (tt.want != nil) {
			t.Errorf("%q: %v, %v, want %v", tt.text, got, err, tt.want)
		}
	}
}

func FuzzSize(f *testing.F) {
	for _, seed := range []string{"8", "64B", "8K", "1M", "2GiB", "0", "9223372036854775807B", "-1", "8KK"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bytes, label, err := Size(text, 1<<10)
		if err != nil {
			return
		}
		again, same, err := Size(label, 1<<10)
		if err != nil || bytes < 0 || again != bytes || same != label {
			t.Errorf("Size(%q) = %d %q, and that label is %d %q %v", text, bytes, label, again, same, err)
		}
	})
}
