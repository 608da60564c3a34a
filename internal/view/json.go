package view

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// WriteJSON writes a document as encoding/json does, but with [] for lists that have
// nothing in them.
func WriteJSON(w io.Writer, document any) error {
	out := jsontext.NewEncoder(w, jsontext.WithIndent("  "))
	return json.MarshalEncode(out, document, jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false))
}
