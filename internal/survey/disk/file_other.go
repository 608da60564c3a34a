//go:build !linux

package disk

import "os"

func nameless(dir string) (*os.File, error) { return anonymous(dir) }

func direct(*os.File) error { return errNotDirect }

func reserve(*os.File, int64) error { return nil }

func inMemory(string) bool { return false }
