package setups

// Share is a copy in company of readers: every worker copies out of one buffer,
// worker 0's, into memory of its own, all at once and without flags, as Fig. 4 has
// it and as the receivers of a bcast do. One copy a segment.
var Share = Setup{
	Name: "share", About: "every worker copies out of one buffer, worker 0's, without flags", Transfers: 1,
	source:   func(int, int) int { return 0 },
	check:    atLeastOne("share"),
	alone:    true,
	together: true,
}

// layShared fills the buffer that all read with bytes that no worker holds: in every
// trial others.
func (tr *trial) layShared() {
	for i, s := range tr.own(0) {
		lay(s, tr.patterns[0], tr.phase+i*tr.SegmentBytes)
	}
}

// checkOut checks the message that begins at unit `at` against what was laid.
func (tr *trial) checkOut(w, at int) error {
	message := tr.users[w].mem[at*unitBytes:][:tr.Bytes]
	for done, i := 0, 0; done < len(message); i++ {
		s := message[done:min(done+tr.SegmentBytes, len(message))]
		if bad := differ(s, tr.patterns[0], tr.phase+i%tr.Segments*tr.SegmentBytes); bad >= 0 {
			return tr.wrong(w, 0, done+bad)
		}
		done += len(s)
	}
	return nil
}
