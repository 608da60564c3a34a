package shm

import "errors"

// ErrForbidden: the kernel forbids a process to read another's memory.
var ErrForbidden = errors.New("allow it with sysctl kernel.yama.ptrace_scope=1 or less, in a container with the capability SYS_PTRACE or a seccomp profile that has process_vm_readv")

// A Post synchronises single copies: the sender says that a message lies ready in its memory, and the
// receiver, in another process, that it has fetched it.
type Post struct {
	offered, taken *Flag
}

// PostBytes is the memory of a post.
const PostBytes = 2 * lineBytes

// NewPost lays a post into mem, zeroed and page-aligned, at offset off.
func NewPost(mem []byte, off int) *Post { return &Post{flagAt(mem, off), flagAt(mem, off+lineBytes)} }

// Progress grows with every message.
func (p *Post) Progress() uint64 { return p.offered.Load() + p.taken.Load() }

// An Offer is the sender's end of a post.
type Offer struct {
	*Post
	w *Waiter
	n uint64
}

// Offer returns the sender's end.
func (p *Post) Offer(w *Waiter) *Offer { return &Offer{Post: p, w: w} }

// Ready says that the next message is ready.
func (o *Offer) Ready() {
	o.n++
	o.offered.Set(o.n)
}

// Await waits until the message was fetched. False: told to stop meanwhile.
func (o *Offer) Await() bool { return o.taken.Await(o.n, o.w) >= o.n }

// A Taker is the receiver's end of a post.
type Taker struct {
	*Post
	w *Waiter
	n uint64
}

// Taker returns the receiver's end.
func (p *Post) Taker(w *Waiter) *Taker { return &Taker{Post: p, w: w} }

// Await waits until the next message is ready. False: told to stop meanwhile.
func (t *Taker) Await() bool { return t.offered.Await(t.n+1, t.w) > t.n }

// Taken says that the message was fetched.
func (t *Taker) Taken() {
	t.n++
	t.taken.Set(t.n)
}
