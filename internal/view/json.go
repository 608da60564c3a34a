package view

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// WriteJSON writes a document as EncodeJSON does, with its format and version before its own
// fields, such as "taulop predict" and 1. The version grows whenever a reader of the one
// before would misunderstand.
func WriteJSON(w io.Writer, format string, version int, document any) error {
	var b bytes.Buffer
	if err := EncodeJSON(&b, document); err != nil {
		return err
	}
	text := bytes.TrimPrefix(b.Bytes(), []byte("{"))
	comma := ","
	if bytes.HasPrefix(text, []byte("}")) {
		comma = "\n"
	}
	if _, err := fmt.Fprintf(w, "{\n  \"format\": %q,\n  \"version\": %d%s", format, version, comma); err != nil {
		return err
	}
	_, err := w.Write(text)
	return err
}

// EncodeJSON writes what encoding/json does, but with [] for lists that have nothing in them.
func EncodeJSON(w io.Writer, document any) error {
	out := jsontext.NewEncoder(w, jsontext.WithIndent("  "))
	return json.MarshalEncode(out, document, jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false))
}
