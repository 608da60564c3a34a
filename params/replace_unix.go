//go:build !windows

package params

import (
	"path/filepath"

	"github.com/google/renameio/v2"
)

// replace writes a file beside path, syncs it to disk and renames it to path.
func replace(path string, data []byte) error {
	return renameio.WriteFile(path, data, 0o644, renameio.WithTempDir(filepath.Dir(path)))
}
