package params

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A scanner reads JSON from a text. Beside the standard library's it refuses
// names that are there twice, knows the line of what it refuses, and is fast
// enough for the cells of a large machine. After an error it reads nothing.
type scanner struct {
	name string // of the file
	text string
	pos  int
	err  error
}

// fail keeps the first error, which is at pos.
func (s *scanner) fail(pos int, format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%s:%d: %w", s.name, s.line(pos), fmt.Errorf(format, args...))
	}
}

// line is the number of the line that pos is in.
func (s *scanner) line(pos int) int { return 1 + strings.Count(s.text[:pos], "\n") }

// unexpected fails because something else is here.
func (s *scanner) unexpected(want string) {
	if s.pos >= len(s.text) {
		s.fail(s.pos, "the file ends where %s belongs; it was cut off", want)
		return
	}
	s.fail(s.pos, "%.40q where %s belongs", firstLine(s.text[s.pos:]), want)
}

// firstLine is enough of a text to be recognised.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text[:min(len(text), 100)], "\n")
	return text
}

// peek is the next byte that is no white space, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// accept takes a byte if it is the next.
func (s *scanner) accept(c byte) bool {
	if s.err != nil || s.peek() != c {
		return false
	}
	s.pos++
	return true
}

func (s *scanner) expect(c byte) bool {
	if s.err != nil {
		return false
	}
	if !s.accept(c) {
		s.unexpected(string(rune(c)))
		return false
	}
	return true
}

// list reads what is between two brackets.
func (s *scanner) list(first, last byte, item func()) {
	if !s.expect(first) || s.accept(last) {
		return
	}
	for s.err == nil {
		item()
		if s.accept(last) {
			return
		}
		s.expect(',')
	}
}

// object calls field for each name; it reads the value.
func (s *scanner) object(field func(name string)) {
	s.list('{', '}', func() {
		name := s.string()
		if s.expect(':') {
			field(name)
		}
	})
}

// string reads a string, which shares the text's memory where it can.
func (s *scanner) string() string {
	if s.err != nil {
		return ""
	}
	if s.peek() != '"' {
		s.unexpected("a string")
		return ""
	}
	begin := s.pos
	escaped := false
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			if !escaped {
				return s.text[begin+1 : s.pos-1]
			}
			var text string
			if err := json.Unmarshal([]byte(s.text[begin:s.pos]), &text); err != nil {
				s.fail(begin, "%.40q is no string", s.text[begin:s.pos])
			}
			return text
		case c == '\\':
			escaped = true
			s.pos++
		case c < ' ':
			s.fail(begin, "a string has no end in its line")
			return ""
		}
	}
	s.pos = len(s.text)
	s.unexpected("the end of a string")
	return ""
}

// number reads a number as it is written; s.err says whether there was one.
func (s *scanner) number() string {
	if s.err != nil {
		return ""
	}
	s.peek()
	begin, pos := s.pos, s.pos
	digits := func() (n int) {
		for pos < len(s.text) && s.text[pos]-'0' <= 9 {
			pos, n = pos+1, n+1
		}
		return n
	}
	is := func(chars string) bool {
		if pos < len(s.text) && strings.IndexByte(chars, s.text[pos]) >= 0 {
			pos++
			return true
		}
		return false
	}
	is("-")
	zero := pos < len(s.text) && s.text[pos] == '0'
	n := digits()
	good := n > 0 && !(zero && n > 1)
	if good && is(".") {
		good = digits() > 0
	}
	if good && is("eE") {
		is("+-")
		good = digits() > 0
	}
	if !good {
		s.unexpected("a number")
		return ""
	}
	s.pos = pos
	return s.text[begin:pos]
}

func (s *scanner) float() float64 {
	if v, ok := s.decimal(); ok {
		return v
	}
	text := s.number()
	if s.err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.fail(s.pos, "%.40q is too large", text)
	}
	return v
}

// decimal reads what almost all numbers are, up to 15 digits with or without a
// point: such digits and such a power of ten are exact, so that their quotient is
// what ParseFloat says, in half the time. Where that is not what is next it reads
// nothing.
func (s *scanner) decimal() (v float64, ok bool) {
	if s.err != nil {
		return 0, false
	}
	s.peek()
	text := s.text[s.pos:min(s.pos+18, len(s.text))]
	digits, n, point := 0, 0, -1
	for i := range len(text) {
		switch c := text[i]; {
		case c-'0' <= 9:
			digits, n = 10*digits+int(c-'0'), n+1
		case c == '.' && point < 0 && i > 0:
			point = i
		case c != ',' && c != ']' || n == 0 || n > 15 || point == i-1 || text[0] == '0' && i > 1 && point != 1:
			return 0, false
		default:
			s.pos += i
			if point < 0 {
				return float64(digits), true
			}
			return float64(digits) / powers[i-point-1], true
		}
	}
	return 0, false
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16}

func (s *scanner) int() int {
	text := s.number()
	if s.err != nil {
		return 0
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		s.fail(s.pos, "%.40q is no whole number, or too large", text)
	}
	return v
}

func (s *scanner) bool() bool {
	switch {
	case s.word("true"):
		return true
	case !s.word("false") && s.err == nil:
		s.unexpected("true or false")
	}
	return false
}

// null says whether null is next, and takes it.
func (s *scanner) null() bool { return s.word("null") }

func (s *scanner) word(word string) bool {
	if s.err != nil || s.peek() != word[0] || !strings.HasPrefix(s.text[s.pos:], word) {
		return false
	}
	s.pos += len(word)
	return true
}

// More than any file of ours has.
const (
	maxDepth = 16   // brackets in each other
	maxNames = 1000 // in an object
)

// value reads anything and returns its text.
func (s *scanner) value(depth int) string {
	next := s.peek()
	begin := s.pos
	switch next {
	case '{':
		names := make(map[string]bool)
		s.object(func(name string) {
			name = strings.ToLower(name) // encoding/json takes TAUS for taus
			if names[name] {
				s.fail(s.pos, "%.40q is there twice", name)
			}
			if len(names) == maxNames {
				s.fail(s.pos, "more than %d names in an object; this is no parameter file", maxNames)
			}
			names[name] = true
			s.nested(depth)
		})
	case '[':
		s.list('[', ']', func() { s.nested(depth) })
	case '"':
		s.string()
	case 't', 'f':
		s.bool()
	case 'n':
		if !s.null() {
			s.unexpected("a value")
		}
	default:
		s.number()
	}
	if s.err != nil {
		return ""
	}
	return s.text[begin:s.pos]
}

func (s *scanner) nested(depth int) {
	if depth == maxDepth {
		s.fail(s.pos, "more than %d brackets in each other", maxDepth)
		return
	}
	s.value(depth + 1)
}
