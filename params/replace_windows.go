package params

import "os"

// replace writes a file; Windows has no way to do so atomically.
func replace(path string, data []byte) error { return os.WriteFile(path, data, 0o644) }
