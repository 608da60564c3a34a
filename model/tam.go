package model

import (
	"math"

	"github.com/taulop/taulop/params"
)

// Tam is the communication model of A. T. C. Tam, section 2.2: messages between hosts that send packets
// through one switch. Times are in ns.
type Tam struct {
	params.Tam
	// Copy is ctm(M), the copy of a message to the buffer that its packets are made from; nil: none.
	Copy func(bytes int) float64
}

// Packets is k, the packets of a message.
func (t Tam) Packets(bytes int) int { return max(1, (bytes+t.Packet-1)/t.Packet) }

// A packet has the model's functions at the size of one packet.
type packet struct{ send, gap, latency, received float64 } // O_s, g, L, O_r + U_r

func (t Tam) packet(bytes int) packet {
	m := min(bytes, t.Packet)
	return packet{t.Send.At(m), max(t.SendGap.At(m), t.ReceiveGap.At(m)), t.Latency.At(m), t.Receive.At(m) + t.Take.At(m)}
}

// PointToPoint is eq. (2.6), and eq. (2.7): in full duplex an exchange costs as much as one message.
func (t Tam) PointToPoint(bytes int) float64 {
	p := t.packet(bytes)
	return p.send + float64(t.Packets(bytes)-1)*p.gap + p.latency + p.received
}

// Broadcast is the cost of a binomial tree of p hosts, and its equation: (2.9) where handling takes two
// gaps or longer, so that successive packets meet in a host, else (2.8).
func (t Tam) Broadcast(bytes, p int) (ns float64, equation string) {
	if t.Copy != nil {
		ns = t.Copy(bytes)
	}
	if p < 2 {
		return ns, "(2.8)"
	}
	of, k, levels := t.packet(bytes), float64(t.Packets(bytes)), math.Ceil(math.Log2(float64(p)))
	handling := of.received + of.send // T_0
	if handling < 2*max(of.gap, of.send) {
		return ns + levels*((k-1)*of.gap+of.latency+handling), "(2.8)"
	}
	return ns + (levels+k-1)*handling + of.latency*levels + (k-1)*(levels-2)*of.send, "(2.9)"
}
