package main

import "testing"

// A shortened warning keeps its statement, and as much of the rest as fits.
func TestBrief(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		start      int
		width      int
	}{
		{"this is so: do that", "this is so: do that", 0, 40},
		{"this is a machine (hypervisor KVM): compare here, or there; or nowhere", "this is a machine (hypervisor KVM)", 0, 40},
		{"this is a machine (hypervisor KVM): compare here, or there; or nowhere", "this is a machine (hypervisor KVM): compare here, or there", 0, 60},
		{"host.json: o(m) is below zero (here, there, and elsewhere) at m = 64K; it counts as 0", "host.json: o(m) is below zero", 0, 40},
		{"the governor is powersave, so clocks change during a run and all is slow: set performance", "the governor is powersave", 0, 40},
		{"one clause that is longer than there is room for", "one clause that is longer than there is room for", 0, 20},
		{"vm (a.json), vm (b.json): the hypervisor took 0.9 %: measure later", "vm (a.json), vm (b.json): the hypervisor took 0.9 %", 26, 40},
	} {
		if got := brief(tt.text, tt.start, tt.width); got != tt.want {
			t.Errorf("%q in %d: %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}
