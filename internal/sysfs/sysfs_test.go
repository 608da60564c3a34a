package sysfs

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/taulop/taulop/internal/test/check"
)

// opened fails when a file is opened.
type opened struct {
	fstest.MapFS
	t *testing.T
}

func (o opened) Open(name string) (fs.File, error) {
	o.t.Errorf("%s was opened", name)
	return o.MapFS.Open(name)
}

func TestPipesAreNotOpened(t *testing.T) {
	tree := Tree{opened{fstest.MapFS{"sys/pipe": {Mode: fs.ModeNamedPipe, Data: []byte("1")}}, t}}
	check.Equal(t, tree.Text("sys/pipe"), "", "text of a pipe")
}
