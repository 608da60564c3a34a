package infile

import (
	"bytes"
	"fmt"
	"io"
)

// maxDocument exceeds any document of taulop, in bytes.
const maxDocument = 64 << 20

// Document reads a document of taulop. It fails with other if the file is empty or too long.
func Document(r io.Reader, name string, other error) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(text) > maxDocument:
		return nil, fmt.Errorf("%s has more than %d MiB: %w", name, maxDocument>>20, other)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, fmt.Errorf("%s is empty: %w", name, other)
	}
	return text, nil
}
