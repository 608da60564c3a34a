//go:build !linux

package engine

import "os"

func memoryFile() (*os.File, error) { return temporaryFile() }

const noFollow = 0
