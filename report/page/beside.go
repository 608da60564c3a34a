package page

import (
	"github.com/taulop/taulop/compare"
	"github.com/taulop/taulop/report"
)

// A besideRow is a cell of what was measured beside transfers.
type besideRow struct {
	Kind, Variant, Cache string
	Placement            string
	Tau, Bytes           int
	Time, Interval       string // ns
}

// besides are those of a machine, in the order of its file.
func besides(m compare.Machine) (rows []besideRow) {
	for _, c := range m.File.Cells {
		if c.Variant == "" {
			continue
		}
		row := besideRow{Kind: string(c.Kind), Variant: c.Variant, Cache: "in", Placement: string(c.Placement), Tau: c.Tau, Bytes: c.Bytes,
			Time: report.Digits(c.Time.Center, (c.Time.Hi-c.Time.Lo)/2)}
		if c.OffCache {
			row.Cache = "off"
		}
		if c.Time.Known() {
			half := (c.Time.Hi - c.Time.Lo) / 2
			row.Interval = report.Digits(c.Time.Lo, half) + " … " + report.Digits(c.Time.Hi, half)
		}
		rows = append(rows, row)
	}
	return rows
}
