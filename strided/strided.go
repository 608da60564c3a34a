// Package strided describes, packs and unpacks strided messages.
//
// A message is elements at a constant stride, in the notation of mlognp-2009, section IV. Other layouts are
// approximated by the nearest stride.
package strided

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"
)

// A Message has elements Stride bytes apart. In the notation of mlognp-2009, 4K8S is 4 KB of data at a stride of
// 8 bytes. A message that does not pass Check, such as the zero value, must not be used.
type Message struct {
	Bytes   int // s, of data
	Stride  int // d, from element to element; equal to Element: contiguous
	Element int // bytes
}

// Element is the default size of elements in the notation, of an int32.
const Element = 4

// most is the largest size and stride in the notation.
const most = 1 << 30

// Parse reads a message such as 4K8S, or 4K64S8E with elements of other than 4 bytes. The units of the size are B,
// K and M, bytes, 1024 and 1024² bytes.
func Parse(text string) (Message, error) {
	m := Message{Element: Element}
	wrong := fmt.Errorf("%.40q is no strided message: write 4K8S for 4 KB at a stride of 8 bytes, 4K64S8E for elements of 8 bytes", text)
	body := strings.ToUpper(text)
	var err error
	if rest, found := strings.CutSuffix(body, "E"); found {
		at := strings.LastIndexByte(rest, 'S') + 1
		if m.Element, err = number(rest[at:]); err != nil {
			return Message{}, wrong
		}
		body = rest[:at]
	}
	body, found := strings.CutSuffix(body, "S")
	if !found {
		return Message{}, wrong
	}
	digits := strings.TrimRight(body, "0123456789") // up to the unit of the size
	if digits == "" {
		return Message{}, fmt.Errorf("%.40q has no unit between size and stride: write 64B8S, 4K8S or 1M8S", text)
	}
	if m.Bytes, err = size(digits); err != nil {
		return Message{}, wrong
	}
	if m.Stride, err = number(body[len(digits):]); err != nil {
		return Message{}, wrong
	}
	return m, m.Check()
}

func number(text string) (int, error) {
	if strings.Trim(text, "0123456789") != "" {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.Atoi(text)
	if err == nil && (n < 1 || n > most) {
		err = strconv.ErrRange
	}
	return n, err
}

func size(text string) (int, error) {
	shift, found := map[byte]int{'B': 0, 'K': 10, 'M': 20}[text[len(text)-1]]
	n, err := number(text[:len(text)-1])
	if err == nil && (!found || n > most>>shift) {
		err = strconv.ErrRange
	}
	return n << shift, err
}

// Check fails for overlapping elements, and for data or strides that are no multiple of an element.
func (m Message) Check() error {
	switch {
	case m.Element < 1:
		return fmt.Errorf("elements of %d bytes: give them one or more", m.Element)
	case m.Bytes < m.Element:
		return fmt.Errorf("a message of %d bytes is smaller than an element of %d: choose a larger size, or a smaller element", m.Bytes, m.Element)
	case m.Bytes > most || m.Stride > most:
		return fmt.Errorf("a message of %d bytes at a stride of %d: give %d bytes at the most", m.Bytes, m.Stride, most)
	case m.Bytes%m.Element != 0:
		return fmt.Errorf("a message of %d bytes is no whole number of elements of %d bytes: choose a multiple", m.Bytes, m.Element)
	case m.Stride < m.Element:
		return fmt.Errorf("elements of %d bytes overlap at a stride of %d: choose a stride of %[1]d or more", m.Element, m.Stride)
	case m.Stride%m.Element != 0:
		return fmt.Errorf("a stride of %d bytes is no multiple of elements of %d bytes: choose one", m.Stride, m.Element)
	}
	return nil
}

// String is the message in Parse's notation.
func (m Message) String() string {
	var size string
	switch {
	case m.Bytes >= 1<<20 && m.Bytes%(1<<20) == 0:
		size = strconv.Itoa(m.Bytes>>20) + "M"
	case m.Bytes >= 1<<10 && m.Bytes%(1<<10) == 0:
		size = strconv.Itoa(m.Bytes>>10) + "K"
	default:
		size = strconv.Itoa(m.Bytes) + "B"
	}
	text := size + strconv.Itoa(m.Stride) + "S"
	if m.Element != Element {
		text += strconv.Itoa(m.Element) + "E"
	}
	return text
}

// Contiguous reports whether there are no gaps between elements.
func (m Message) Contiguous() bool { return m.Stride == m.Element }

// Span is the extent of the message in memory in bytes, with its gaps.
func (m Message) Span() int { return (m.Bytes/m.Element-1)*m.Stride + m.Element }

// Pack copies a message from src, Span bytes, to contiguous dst, Bytes bytes.
func (m Message) Pack(dst, src []byte) {
	dst, src = dst[:m.Bytes], src[:m.Span()]
	switch m.Element {
	case 1:
		move[uint8](dst, src, 1, m.Stride, m.Bytes)
	case 4:
		move[uint32](dst, src, 4, m.Stride, m.Bytes/4)
	case 8:
		move[uint64](dst, src, 8, m.Stride, m.Bytes/8)
	default:
		for at, from := 0, 0; at < m.Bytes; at, from = at+m.Element, from+m.Stride {
			copy(dst[at:at+m.Element], src[from:from+m.Element])
		}
	}
}

// Unpack copies a message from contiguous src, Bytes bytes, to dst, Span bytes.
func (m Message) Unpack(dst, src []byte) {
	dst, src = dst[:m.Span()], src[:m.Bytes]
	switch m.Element {
	case 1:
		move[uint8](dst, src, m.Stride, 1, m.Bytes)
	case 4:
		move[uint32](dst, src, m.Stride, 4, m.Bytes/4)
	case 8:
		move[uint64](dst, src, m.Stride, 8, m.Bytes/8)
	default:
		for at, to := 0, 0; at < m.Bytes; at, to = at+m.Element, to+m.Stride {
			copy(dst[to:to+m.Element], src[at:at+m.Element])
		}
	}
}

// move copies n elements at strides in bytes, without checks of bounds: the caller has sliced both buffers. Buffers
// begin on a cache line, and strides are multiples of elements.
func move[T uint8 | uint32 | uint64](dst, src []byte, dstStride, srcStride, n int) {
	d, s := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	for i := range n {
		*(*T)(unsafe.Add(d, i*dstStride)) = *(*T)(unsafe.Add(s, i*srcStride))
	}
}
