package report

import (
	"testing"

	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/tune"
	"github.com/taulop/taulop/mpi"
)

// Numbers in text: costs have four digits, sizes three, an error that rounds to 0.0 a plus; gains are ranges
// over the sizes of a line, with or without a rule.
func TestTexts(t *testing.T) {
	stages := func(every, repeat int) string {
		return stageNumbers(predict.ExplainStage{First: 4, Every: every, Repeat: repeat})
	}
	gain := func(least, most float64, rule *mpi.Setting, why tune.Why) string {
		return (&TuningSpan{Gain: least, Most: most, Rule: rule, Why: why}).gain()
	}
	for _, tt := range []struct{ got, want string }{
		{microseconds(0, false), "0"}, {microseconds(0.00000125, false), "0.000001"}, {microseconds(0.00125, false), "0.001250"},
		{microseconds(6.5432, false), "6.543"}, {microseconds(654.32, false), "654.3"}, {microseconds(6543210, false), "6543000"},
		{microseconds(-0.08123, false), "-0.08123"}, {microseconds(1, true), "~1.000"},
		{signed(-1e-9), "+0.0"}, {signed(1e-9), "+0.0"}, {signed(-0.001), "-0.1"}, {signed(0.001), "+0.1"}, {signed(-12), "-1200"},
		{rounded(0), "-"}, {rounded(64), "64 B"}, {rounded(1280 << 10), "1.25 MiB"}, {rounded(1000 << 20), "0.977 GiB"}, {rounded(538 << 30), "538 GiB"},
		{stages(2, 1), "4"}, {stages(1, 7), "4–10"}, {stages(2, 2), "4, 6"}, {stages(2, 5), "4, 6 … 12"},
		{gain(0.21, 0.26, &mpi.Setting{ID: 4}, ""), "21–26 rule"}, {gain(0.04, 0.18, nil, tune.Little), "4–18"}, {gain(0.181, 0.184, nil, tune.Little), "18"},
		{gain(0, 0, nil, tune.Little), ""}, {gain(0.3, 0.4, nil, "unsure"), "30–40, unsure"}, {gain(0, 0, nil, "unsure"), "unsure"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
