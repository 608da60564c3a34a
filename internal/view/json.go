package view

import (
	"bytes"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// WriteJSON writes a document after its format, version and answer in sentences, "" for none. The
// version grows when a reader of the former one would misunderstand.
func WriteJSON(w io.Writer, format string, version int, answer string, document any) error {
	var fields bytes.Buffer
	if err := EncodeJSON(&fields, document); err != nil {
		return err
	}
	return EncodeJSON(w, struct {
		Format  string         `json:"format"`
		Version int            `json:"version"`
		Answer  string         `json:"answer,omitempty"`
		Fields  jsontext.Value `json:",embed"`
	}{format, version, answer, fields.Bytes()})
}

// EncodeJSON writes indented JSON as encoding/json does, but [] for nil slices.
func EncodeJSON(w io.Writer, document any) error {
	out := jsontext.NewEncoder(w, jsontext.WithIndent("  "))
	return json.MarshalEncode(out, document, jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false))
}
