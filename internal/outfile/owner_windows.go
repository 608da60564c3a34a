package outfile

import (
	"io/fs"
	"os"
)

const noTerminal = 0

func mayWrite(string) error { return nil }

// keepOwner does nothing: a file's owner comes from its directory.
func keepOwner(*os.File, fs.FileInfo, fs.FileInfo) error { return nil }
