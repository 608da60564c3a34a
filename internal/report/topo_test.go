package report

import "testing"

func TestRounded(t *testing.T) {
	for _, test := range []struct {
		bytes int64
		want  string
	}{
		{0, "-"}, {64, "64 B"}, {32 << 10, "32 KiB"}, {1280 << 10, "1.25 MiB"}, {1000 << 20, "0.977 GiB"}, {538 << 30, "538 GiB"},
	} {
		if got := rounded(test.bytes); got != test.want {
			t.Errorf("%d: got %q, want %q", test.bytes, got, test.want)
		}
	}
}
