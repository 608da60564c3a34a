package network

import (
	"fmt"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// Tables are T(m,τ) = o + L of each network, L to the other hosts beside the first, and Tam's
// parameters with their predictions.
func Tables(f *params.File) (tables []view.Table) {
	for _, w := range measured(f) {
		for _, tau := range w.taus {
			t := view.Table{Title: fmt.Sprintf("L(m,%d) of %s: %s one way, until the last has arrived, after o", tau, w.network.Name, messages(tau)), Columns: view.Numbers("m", "µs", "95 % interval", "MB/s", "samples")}
			covered := false // by o
			for _, m := range w.sizes {
				if c, there := w.at[key{params.NetTransfer, 0, tau, m}]; there {
					us := c.Time.Scale(1e-3)
					covered = covered || us.Center == 0
					t.Add(view.Bytes(m), view.Rough(us), view.Interval(us), view.Rough(c.Time.Rate(1e3*float64(tau*m))), us.N)
				}
			}
			if o, there := w.at[key{params.NetOverhead, 0, 1, w.sizes[0]}]; there && tau == w.taus[0] {
				us := o.Time.Scale(1e-3)
				t.Note("o = %s µs %s, before the first byte leaves", view.Rough(us), view.Interval(us))
			}
			t.NoteIf(covered, "where L is 0, o already contains the whole way of a message so small, and no MB/s is known")
			tables = append(tables, t)
		}
		tables = append(tables, w.hosts()...)
		tables = append(tables, w.tam()...)
	}
	return tables
}

// Answer is the time of the shortest message and the throughput of the longest, alone and with the
// most flows.
func Answer(f *params.File) string {
	var lines []string
	for _, w := range measured(f) {
		shortest, longest, most := w.sizes[0], w.sizes[len(w.sizes)-1], w.taus[len(w.taus)-1]
		var parts []string
		if c, there := w.at[key{params.NetTransfer, 0, 1, shortest}]; there {
			parts = append(parts, fmt.Sprintf("a message of %s takes %s after o one way", view.Size(shortest), view.Timed(c.Time)))
		}
		for _, tau := range lists.Rising([]int{1, most}) {
			if c, there := w.at[key{params.NetTransfer, 0, tau, longest}]; there && c.Time.Center > 0 {
				parts = append(parts, fmt.Sprintf("%s of %s: %s", messages(tau), view.Size(longest), view.Known(c.Time.Rate(1e3*float64(tau*longest)), " MB/s")))
			}
		}
		lines = append(lines, w.network.Name+": "+strings.Join(parts, "; ")+".")
	}
	return strings.Join(lines, "\n")
}

// cells are a network's cells, and the τ and sizes of its messages.
type cells struct {
	*params.File
	network     params.Network
	at          map[key]params.Cell
	taus, sizes []int
}

// measured are the networks with messages.
func measured(f *params.File) (all []cells) {
	for _, n := range f.Networks {
		w := cells{File: f, network: n, at: make(map[key]params.Cell)}
		for _, c := range f.Cells {
			p := c.Parameter()
			if c.Kind != params.NetCell || p.Of != n.Name {
				continue
			}
			w.at[key{p.Name, p.Host, c.Tau, c.Bytes}] = c
			if p.Name == params.NetTransfer && p.Host == 0 {
				w.taus, w.sizes = append(w.taus, c.Tau), append(w.sizes, c.Bytes)
			}
		}
		if w.taus, w.sizes = lists.Rising(w.taus), lists.Rising(w.sizes); len(w.sizes) > 0 {
			all = append(all, w)
		}
	}
	return all
}

type key struct {
	parameter        string
	host, tau, bytes int
}

func messages(tau int) string {
	return printable.Either(tau == 1, "a message", fmt.Sprintf("%d messages at once", tau))
}

// hosts compares L to the other hosts with L to the first.
func (w cells) hosts() []view.Table {
	t := view.Table{Title: "L(m,1) to each host", Keys: 2, Columns: append(view.Words("host"), view.Numbers("m", "µs", "95 % interval", "× the first")...)}
	for i := 1; i+1 < len(w.network.Hosts); i++ {
		for _, m := range w.sizes {
			if c, there := w.at[key{params.NetTransfer, i + 1, 1, m}]; there {
				us := c.Time.Scale(1e-3)
				t.Add(w.network.Hosts[i+1], view.Bytes(m), view.Rough(us), view.Interval(us), view.Rough(c.Time.Div(w.at[key{params.NetTransfer, 0, 1, m}].Time)))
			}
		}
	}
	return view.Filled(t)
}

// tam is Tam's parameters and their predictions of messages and broadcasts.
func (w cells) tam() []view.Table {
	t, err := w.Tam(w.network.Name)
	if err != nil { // not measured, or not completely
		return nil
	}
	lines := view.Table{Title: fmt.Sprintf("Tam's parameters, of packets of 1 to %d bytes", t.Packet), Columns: append(view.Words("parameter", ""), view.Numbers("startup, µs", "ns a byte", "residual")...)}
	for _, row := range []struct {
		name, what string
		line       fit.Line
	}{
		{"O_s(m)", "sending", t.Send}, {"g_s(m)", "between packets that leave", t.SendGap}, {"L(m,2)", "the network", t.Latency},
		{"g_r(m)", "between packets that arrive", t.ReceiveGap}, {"O_r(m)", "the kernel's receiving", t.Receive}, {"U_r(m)", "reading", t.Take},
	} {
		start := row.line.Startup
		start.Value, start.Error = start.Value/1e3, start.Error/1e3
		lines.Add(row.name, row.what, view.Coefficient(start), view.Coefficient(row.line.PerByte), fmt.Sprintf("%.1f %%", 100*row.line.Residual))
	}
	lines.NoteIf(t.Buffer > 0, "B_L is %.3g KB or more: what waits on the way while one flow sends all it can", t.Buffer/1024)
	m := model.Tam{Tam: t}
	predicted := view.Table{Title: "What they say of longer messages, in µs", Columns: view.Numbers("m", "packets", "one way, by (2.6)", "measured", "broadcast among 8", "by")}
	for _, bytes := range w.sizes {
		if c, there := w.at[key{params.NetTransfer, 0, 1, bytes}]; there && bytes > t.Packet {
			cost, equation := m.Broadcast(bytes, 8)
			measured := c.Time.Center + w.at[key{params.NetOverhead, 0, 1, w.sizes[0]}].Time.Center
			predicted.Add(view.Bytes(bytes), m.Packets(bytes), micros(m.PointToPoint(bytes)), micros(measured), micros(cost), equation)
		}
	}
	return view.Filled(lines, predicted)
}

func micros(ns float64) string { return view.Digits(ns/1e3, ns/1e5) }
