package params

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/taulop/taulop/internal/printable"
)

// A document is JSON that is read token by token, so that a file of many cells is never in memory as a
// tree. After an error it reads nothing.
type document struct {
	*jsontext.Decoder
	name    string // of the file
	text    []byte
	base    int // position at which the decoder began
	listed  int // CPUs in lists of the latest value
	objects int // in the latest value
	err     error
}

// newDocument removes a byte order mark and Ctrl-Z.
func newDocument(text []byte, name string) document {
	text = bytes.TrimSuffix(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), []byte("\x1a"))
	return document{Decoder: jsontext.NewDecoder(bytes.NewBuffer(text), tolerant), name: name, text: text}
}

// tolerant accepts TAUS for taus, and reads invalid UTF-8 as U+FFFD, as encoding/json does: files may have
// been edited by hand.
var tolerant = json.JoinOptions(json.MatchCaseInsensitiveNames(true), jsontext.AllowInvalidUTF8(true))

// DecodeJSON reads another JSON document into target within the limits of Read: it refuses truncated or
// invalid JSON, repeated names, deep nesting, and too long lists of CPUs. Errors begin with name and the
// line.
func DecodeJSON(text []byte, name string, target any) error {
	d := newDocument(text, name)
	value, pos := d.value(len(text))
	d.end()
	if d.listed > mostListed {
		d.fail(0, "%w", errListed)
	}
	if d.err == nil {
		d.refuse(pos, "", json.Unmarshal(value, target, tolerant))
	}
	return d.err
}

// fail records an error at pos, unless there was one before.
func (d *document) fail(pos int, format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%s:%d: %w", d.name, d.line(pos), fmt.Errorf(format, args...))
	}
}

// line is the number of the line of pos.
func (d *document) line(pos int) int { return 1 + bytes.Count(d.text[:pos], []byte("\n")) }

// refuse records an error of the JSON library, whose offsets count from begin, as a sentence after prefix.
func (d *document) refuse(begin int, prefix string, err error) {
	if err == nil {
		return
	}
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	at := func(offset int64) int { return min(begin+int(offset), len(d.text)) }
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		d.fail(len(d.text), "%sthe file ends in the middle of a value; it was cut off: copy it again, or make it anew", prefix)
	case errors.As(err, &syntax) && syntax.Err == jsontext.ErrDuplicateName:
		d.fail(at(syntax.ByteOffset), "%s%.40q is there twice", prefix, syntax.JSONPointer.LastToken())
	case errors.As(err, &syntax):
		pos := at(syntax.ByteOffset)
		d.fail(pos, "%s%w, at %.40q", prefix, syntax.Err, firstLine(d.text[pos:]))
	case errors.As(err, &meaning) && meaning.Err == json.ErrUnknownName:
		d.fail(at(meaning.ByteOffset), "%sthere is no field %.40q", prefix, meaning.JSONPointer.LastToken())
	case errors.As(err, &meaning) && (meaning.Err == nil || meaning.JSONValue != nil):
		found := meaning.JSONKind.String()
		if meaning.JSONValue != nil {
			found = printable.Part(string(meaning.JSONValue))
		}
		d.fail(at(meaning.ByteOffset), "%s%s where a value like %v belongs", prefix, found, meaning.GoType)
	case errors.As(err, &meaning):
		d.fail(at(meaning.ByteOffset), "%s%.200s", prefix, meaning.Err)
	default:
		d.fail(begin, "%s%.200s", prefix, err)
	}
}

// firstLine is the beginning of a text, for an error.
func firstLine(text []byte) []byte {
	text, _, _ = bytes.Cut(bytes.TrimSpace(text[:min(len(text), 100)]), []byte("\n"))
	return text
}

// next is the position of the next token.
func (d *document) next() int { return d.after(d.pos()) }

// after is the position of the first token after pos.
func (d *document) after(pos int) int {
	return len(d.text) - len(bytes.TrimLeft(d.text[pos:], " \t\r\n,:"))
}

// pos is the end of the latest token.
func (d *document) pos() int { return d.base + int(d.InputOffset()) }

// is reports whether the next token is of a kind.
func (d *document) is(kind jsontext.Kind) bool { return d.err == nil && d.PeekKind() == kind }

// token reads a token of a kind; want names it in an error.
func (d *document) token(kind jsontext.Kind, want string) (t jsontext.Token, ok bool) {
	if d.err != nil {
		return t, false
	}
	before := d.pos()
	t, err := d.ReadToken()
	if err != nil {
		d.refuse(d.base, "", err)
		return t, false
	}
	if t.Kind() != kind {
		pos := d.after(before)
		d.fail(pos, "%.40q where %s belongs", firstLine(d.text[pos:]), want)
		return t, false
	}
	return t, true
}

func (d *document) bracket(kind jsontext.Kind) { d.token(kind, kind.String()) }

// each reads the items between two brackets.
func (d *document) each(first, last jsontext.Kind, item func()) {
	for d.bracket(first); d.err == nil && !d.is(last); {
		item()
	}
	d.bracket(last)
}

func (d *document) float() float64 { return number(d, jsontext.Token.Float, "too large") }

func (d *document) int() int {
	return int(number(d, jsontext.Token.Int, "no whole number, or too large"))
}

// int32 reads a number that File has in 32 bits.
func (d *document) int32() int32 {
	n := d.int()
	if n != int(int32(n)) {
		d.fail(d.pos(), "%d is too large", n)
	}
	return int32(n)
}

// number reads a number, which parse refuses for why.
func number[N int64 | float64](d *document, parse func(jsontext.Token) (N, error), why string) N {
	t, ok := d.token('0', "a number")
	if !ok {
		return 0
	}
	v, err := parse(t)
	if err != nil {
		d.fail(d.pos(), "%.40q is %s", t, why)
	}
	return v
}

// null reads null if that is next.
func (d *document) null() bool {
	if d.is('n') {
		d.token('n', "")
		return true
	}
	return false
}

// end reads the end of the file.
func (d *document) end() {
	if d.err != nil {
		return
	}
	pos := d.next()
	switch _, err := d.ReadToken(); err {
	case io.EOF:
	case nil:
		d.fail(pos, "%.40q where the end of the file belongs", firstLine(d.text[pos:]))
	default:
		d.refuse(d.base, "", err)
	}
}

// Limits beyond any file that taulop writes.
const (
	maxDepth   = 16      // nested brackets
	maxNames   = 4096    // in an object
	maxObjects = 1 << 17 // in a field that is decoded as a whole: {} is short in a file and may be large in memory
	mostListed = 1 << 22 // CPUs in all lists of a machine
)

var errListed = limitf("more than %d CPUs in lists", mostListed)

// value reads any value of at most that many bytes, and returns its text and position.
func (d *document) value(most int) (text []byte, pos int) {
	if d.err != nil {
		return nil, 0
	}
	d.listed, d.objects = 0, 0
	pos, outside := d.next(), d.StackDepth()
	for d.err == nil {
		t, err := d.ReadToken()
		if err != nil {
			d.refuse(d.base, "", err)
			break
		}
		switch t.Kind() {
		case '"':
			d.listed += unfolded(t.String())
		case '{':
			d.objects++
		}
		if d.pos()-pos > most {
			d.fail(pos, "%w", limitf("more than %d MiB in one field", most>>20))
		}
		depth := d.StackDepth()
		if depth == outside {
			break
		}
		if depth-outside > maxDepth {
			d.fail(d.pos(), "more than %d brackets in each other", maxDepth)
		}
		if kind, n := d.StackIndex(depth); kind == '{' && n > 2*maxNames {
			d.fail(d.pos(), "more than %d names in an object; this is no parameter file", maxNames)
		}
	}
	return d.text[pos:max(pos, d.pos())], pos
}

// unfolded is the number of CPUs in a list such as "0-8191", 0 if the text is no list.
func unfolded(list string) (n int) {
	for field := range strings.SplitSeq(list, ",") {
		low, high, ranged := strings.Cut(strings.TrimSpace(field), "-")
		first, err := strconv.Atoi(low)
		if err != nil {
			return n
		}
		n++
		if last, err := strconv.Atoi(high); ranged && err == nil {
			n += min(max(0, last-first), mostListed)
		}
		if n > mostListed {
			return n
		}
	}
	return n
}
