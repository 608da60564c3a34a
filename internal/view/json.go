package view

import (
	"bytes"
	"cmp"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// WriteJSON writes a document after its format, version and answer in sentences, "" for none. The
// version grows when a reader of the former one would misunderstand.
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

// EncodeJSON writes indented JSON as encoding/json does, but [] for nil slices.
func EncodeJSON(w io.Writer, document any) error {
	out := jsontext.NewEncoder(w, jsontext.WithIndent("  "))
	return json.MarshalEncode(out, document, jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false))
}
