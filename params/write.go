package params

import (
	"bytes"
	jsonv1 "encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/numa"
)

// WriteFile writes the file as Write does. A regular file at path is replaced atomically.
func (f *File) WriteFile(path string) error {
	err := outfile.Write(path, f.Write)
	if errors.As(err, new(LimitError)) {
		return fmt.Errorf("%s was not written: %w", path, err)
	}
	return err
}

// Write writes the file in version Version of the format: a line for each cell, in the order of kind,
// setup, placement, cache, operator, τ and m. Samples have five digits, values computed from them six. The
// text is read again before it is written, so that Write refuses what Read would. A LimitError says that
// the file is too large.
func (f *File) Write(w io.Writer) error {
	text, err := f.checked()
	var limit LimitError
	switch {
	case errors.As(err, &limit):
		return fmt.Errorf("taulop reads no parameter file of %w, and this would be one: put what is new into another file", limit)
	case err != nil:
		return err
	}
	_, err = w.Write(text)
	return err
}

// Validate is the error that Write and Read would return.
func (f *File) Validate() error {
	_, err := f.checked()
	return err
}

// checked is the file's text, which Read accepts.
func (f *File) checked() ([]byte, error) {
	text, err := f.text()
	if err == nil {
		_, err = decode(text, "what was to be written")
	}
	return text, err
}

func (f *File) text() ([]byte, error) {
	whole := *f
	whole.Format, whole.Version = Format, Version
	text, err := whole.head()
	if err != nil {
		return nil, err
	}
	text = append(text, ",\n  \"cells\": ["...)
	before := "\n    "
	for _, i := range f.sorted() {
		cell, err := f.Cells[i].text()
		if err != nil {
			return nil, fmt.Errorf("%v: %w", f.Cells[i].Key, err)
		}
		text = append(append(text, before...), cell...)
		before = ",\n    "
		if len(text) > maxFile {
			break
		}
	}
	if text = append(text, "\n  ]\n}\n"...); len(text) > maxFile {
		return nil, limitf("more than %d MiB", maxFile>>20)
	}
	return text, nil
}

// head is the file's text up to its cells.
func (f *File) head() ([]byte, error) {
	head := *f
	head.Placements, head.Warnings, head.Launches = append([]numa.Placement{}, f.Placements...), append([]string{}, f.Warnings...), append([]Launch{}, f.Launches...)
	head.Seconds, head.Persistence, head.Cells = round(f.Seconds, 6), round(f.Persistence, 6), nil
	var b bytes.Buffer
	encoder := jsonv1.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(head); err != nil {
		return nil, err
	}
	text := append(bytes.TrimSuffix(bytes.TrimSpace(b.Bytes()), []byte(`,"cells":null}`)), '}')
	var out bytes.Buffer
	layOut(&out, text, "\n")
	return bytes.TrimSuffix(out.Bytes(), []byte("\n}")), nil
}

// layOut writes JSON for people: values with brackets inside, or with long texts, have a line for each of
// their parts. The text comes from an encoder, so that reading it cannot fail.
func layOut(out *bytes.Buffer, text jsontext.Value, indent string) {
	first := text.Kind()
	short := len(text) < 100 || first == '{' || len(text) < 20*bytes.Count(text, []byte(","))
	inline := len(text) < 2 || !bytes.ContainsAny(text[1:], "[{") && short
	if indent != "\n" && inline || first != '{' && first != '[' {
		out.Write(text)
		return
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	d.ReadToken()
	out.WriteByte(text[0])
	separator := ""
	for k := d.PeekKind(); k != jsontext.KindInvalid && k != '}' && k != ']'; k = d.PeekKind() {
		out.WriteString(separator + indent + "  ")
		separator = ","
		if first == '{' {
			name, _ := d.ReadValue()
			out.Write(name)
			out.WriteString(": ")
		}
		part, _ := d.ReadValue()
		layOut(out, part, indent+"  ")
	}
	out.WriteString(indent)
	out.WriteByte(text[len(text)-1])
}

// text is the cell as one line of JSON. It fails for NaN.
func (c *Cell) text() ([]byte, error) {
	return json.Marshal(cellText{keyText(c.Key), c.K, c.Transfers, estimateText{c.Time, c.digits()}, c.Samples}, jsontext.AllowInvalidUTF8(true))
}

// MarshalJSONTo writes what decoder.estimate reads.
func (t estimateText) MarshalJSONTo(to *jsontext.Encoder) error {
	b := []byte{'['}
	for _, v := range []float64{t.Center, t.Lo, t.Hi} {
		b = append(appendNumber(b, v, t.digits), ',')
	}
	b = strconv.AppendInt(b, int64(t.N), 10)
	if t.Sessions > 0 {
		b = strconv.AppendInt(append(b, ','), int64(t.Sessions), 10)
	}
	return to.WriteValue(append(b, ']'))
}

// MarshalJSONTo writes a row of numbers for each sample, see decoder.sample.
func (s samplesText) MarshalJSONTo(to *jsontext.Encoder) error {
	b := []byte{'['}
	for i := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = s[i].append(b)
	}
	return to.WriteValue(append(b, ']'))
}

func (s *Sample) append(b []byte) []byte {
	b = append(strconv.AppendInt(append(b, '['), int64(s.Launch), 10), ',')
	b = append(appendNumber(b, s.NS, 5), ',')
	b = append(appendNumber(b, float64(s.At), 5), ',')
	b = appendNumber(b, float64(s.Spread), 2)
	if w := s.Workers; w.Fastest > 0 || s.Watch > 0 {
		b = append(appendNumber(append(b, ','), float64(w.Fastest), 3), ',')
		b = append(appendNumber(b, float64(w.Typical), 3), ',')
		b = strconv.AppendInt(b, int64(w.Last), 10)
	}
	if s.Watch > 0 {
		b = append(strconv.AppendInt(append(b, ','), int64(s.Watch), 10), ',')
		b = append(appendNumber(b, float64(s.Before), 3), ',')
		b = appendNumber(b, float64(s.After), 3)
		if s.Computed > 0 {
			b = appendNumber(append(b, ','), float64(s.Computed), 3)
		}
	}
	return append(b, ']')
}

// digits is the number of digits of a cell's time in files: one more than of its samples, all without
// samples.
func (c *Cell) digits() int {
	if len(c.Samples) > 0 {
		return 6
	}
	return 17
}

// appendNumber writes a number with at most digits digits; null for infinity.
func appendNumber(b []byte, v float64, digits int) []byte {
	if math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	v = round(v, digits)
	if v == math.Trunc(v) && v < 1<<53 {
		return strconv.AppendInt(b, int64(v), 10)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// round rounds to significant digits.
func round(v float64, digits int) float64 {
	if v == 0 || digits > 15 {
		return v
	}
	decimals := digits - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	switch {
	case decimals > 22: // larger powers of ten are not exact
		return v
	case decimals >= 0:
		unit := math.Pow10(decimals)
		return math.Round(v*unit) / unit
	}
	unit := math.Pow10(-decimals)
	return math.Round(v/unit) * unit
}
