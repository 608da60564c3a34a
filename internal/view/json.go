package view

import (
	"bytes"
	"cmp"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// WriteJSON writes a document as EncodeJSON does, below its format and version, such as "taulop
// predict" and 1, and what it answers, in a sentence or more; "" is left out. The version grows
// whenever a reader of the one before would misunderstand.
func WriteJSON(w io.Writer, format string, version int, answer string, document any) error {
	var head, b bytes.Buffer
	if err := cmp.Or(EncodeJSON(&head, struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		Answer  string `json:"answer,omitempty"`
	}{format, version, answer}), EncodeJSON(&b, document)); err != nil {
		return err
	}
	text := bytes.TrimPrefix(b.Bytes(), []byte("{"))
	head.Truncate(head.Len() - len("\n}\n"))
	if !bytes.HasPrefix(text, []byte("}")) {
		head.WriteString(",")
	} else {
		head.WriteString("\n")
	}
	head.Write(text)
	_, err := w.Write(head.Bytes())
	return err
}

// EncodeJSON writes what encoding/json does, but with [] for lists that have nothing in them.
func EncodeJSON(w io.Writer, document any) error {
	out := jsontext.NewEncoder(w, jsontext.WithIndent("  "))
	return json.MarshalEncode(out, document, jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false))
}
