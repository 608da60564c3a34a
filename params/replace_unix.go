//go:build !windows

package params

import (
	"path/filepath"

	"github.com/google/renameio/v2"
)

// replace writes a file beside path, syncs it to disk and renames it to path.
// The file beside it is named as renameio does, a dot, path's name and digits.
func replace(path string, data []byte) error {
	return renameio.WriteFile(path, data, 0o644, renameio.WithTempDir(filepath.Dir(path)))
}
