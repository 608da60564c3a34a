package shm

import "fmt"

// A Channel is a segmented intermediate buffer: one worker writes segment after segment, each reader
// copies each segment out, and a segment is free again when all readers have (taulop-2015, Figs. 6 and
// 18–20).
type Channel struct {
	segments int     // nseg
	stride   int     // bytes from segment to segment
	filled   *Flag   // number of segments written
	emptied  []*Flag // by reader: number of segments read
	data     []byte
}

// stride keeps segments on lines of their own.
func stride(segmentBytes int) int { return (segmentBytes + lineBytes - 1) / lineBytes * lineBytes }

// headBytes is the memory of the flags, in whole pages: segments begin on a page.
func headBytes(readers int) int {
	const page = 4096
	return ((1+readers)*lineBytes + page - 1) / page * page
}

// ChannelBytes is the memory of a channel. It fails if an int cannot hold it.
func ChannelBytes(segments, segmentBytes, readers int) (int, error) {
	const most = 1 << 62
	if segments < 1 || segmentBytes < 0 || readers < 1 ||
		readers > most/lineBytes || segmentBytes > most/2/segments {
		return 0, fmt.Errorf("an intermediate buffer cannot have %d segments of %d bytes and %d readers: use fewer or smaller segments", segments, segmentBytes, readers)
	}
	return headBytes(readers) + segments*stride(segmentBytes), nil
}

// NewChannel lays a channel into mem, which is zeroed, page-aligned and ChannelBytes long.
func NewChannel(mem []byte, segments, segmentBytes, readers int) *Channel {
	c := &Channel{
		segments: segments,
		stride:   stride(segmentBytes),
		filled:   flagAt(mem, 0),
		data:     mem[headBytes(readers):],
	}
	for r := range readers {
		c.emptied = append(c.emptied, flagAt(mem, (1+r)*lineBytes))
	}
	return c
}

// Segment is the memory of the i-th segment of the buffer, 0 ≤ i < nseg.
func (c *Channel) Segment(i int) []byte { return c.data[i*c.stride : (i+1)*c.stride] }

// A Sender is the writer's end of a channel, for its one worker alone.
type Sender struct {
	c      *Channel
	w      *Waiter
	sent   uint64 // segments written
	free   uint64 // segments that may be written before the readers' flags are looked at again
	offset int    // of the next segment in c.data
	_      [lineBytes]byte
}

// Sender returns the writer's end.
func (c *Channel) Sender(w *Waiter) *Sender { return &Sender{c: c, w: w, free: uint64(c.segments)} }

// Send copies src, at most a segment, into the next segment once every reader has emptied it. False:
// told to stop meanwhile.
//
//go:nosplit
func (s *Sender) Send(src []byte) bool {
	c := s.c
	if s.sent == s.free {
		// The oldest segment is next: every reader must be past it.
		least := ^uint64(0)
		for _, f := range c.emptied {
			v := f.Await(s.sent-uint64(c.segments)+1, s.w)
			if v < least {
				least = v
			}
		}
		if least+uint64(c.segments) <= s.sent {
			return false
		}
		s.free = least + uint64(c.segments)
	}
	Copy(c.data[s.offset:], src)
	s.sent++
	c.filled.Set(s.sent)
	if s.offset += c.stride; s.offset == c.stride*c.segments {
		s.offset = 0
	}
	return true
}

// Sent is the number of segments written.
func (s *Sender) Sent() uint64 { return s.sent }

// A Receiver is a reader's end of a channel, for its one worker alone.
type Receiver struct {
	c        *Channel
	w        *Waiter
	emptied  *Flag
	received uint64 // segments read
	ready    uint64 // segments known to be written
	offset   int
	_        [lineBytes]byte
}

// Receiver returns the end of the reader-th reader.
func (c *Channel) Receiver(reader int, w *Waiter) *Receiver {
	return &Receiver{c: c, w: w, emptied: c.emptied[reader]}
}

// Await waits until the next segment is written. False: told to stop meanwhile.
//
//go:nosplit
func (r *Receiver) Await() bool {
	if r.received == r.ready {
		r.ready = r.c.filled.Await(r.received+1, r.w)
	}
	return r.ready > r.received
}

// Receive copies the next segment into dst, at most a segment, once it is written. False: told to stop
// meanwhile.
//
//go:nosplit
func (r *Receiver) Receive(dst []byte) bool {
	c := r.c
	if r.received == r.ready {
		r.ready = c.filled.Await(r.received+1, r.w)
		if r.ready == r.received {
			return false
		}
	}
	Copy(dst, c.data[r.offset:])
	r.received++
	r.emptied.Set(r.received) // hands the segment back
	if r.offset += c.stride; r.offset == c.stride*c.segments {
		r.offset = 0
	}
	return true
}

// Received is the number of segments read.
func (r *Receiver) Received() uint64 { return r.received }

// Progress grows with every segment that is written or read.
func (c *Channel) Progress() uint64 {
	n := c.filled.Load()
	for _, f := range c.emptied {
		n += f.Load()
	}
	return n
}
