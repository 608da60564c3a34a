package view

import (
	"encoding/json"
	"io"
	"reflect"
	"strings"
)

// WriteJSON writes a document, with [] for lists that have nothing in them.
func WriteJSON(w io.Writer, document any) error {
	fillLists(reflect.ValueOf(document))
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(document)
}

func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillLists(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field, of := v.Field(i), v.Type().Field(i)
			list := field.Kind() == reflect.Slice && of.Type.Name() == "" // named types have JSON of their own
			if list && field.IsNil() && field.CanSet() && !strings.Contains(of.Tag.Get("json"), "omitempty") {
				field.Set(reflect.MakeSlice(of.Type, 0, 0))
			}
			fillLists(field)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	}
}
