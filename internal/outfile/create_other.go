//go:build !linux

package outfile

import "io/fs"

func create(dir string, perm fs.FileMode) (*temporary, error) { return createNamed(dir, perm) }

func (t *temporary) link() error { return nil }
