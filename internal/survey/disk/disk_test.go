package disk

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/params"
)

func filled(t *testing.T, content []byte) *file {
	t.Helper()
	f := must.Get(open(context.Background(), Request{Dir: t.TempDir()}, Cached, content))
	t.Cleanup(func() { f.Close() })
	f.buffer = make([]byte, len(content))
	return f
}

// Reads return the last written data, and a flipped bit is detected.
func TestTransfersAreChecked(t *testing.T) {
	content := make([]byte, 16*BlockBytes)
	for i := range content {
		content[i] = byte(i / BlockBytes * (i%251 + 1))
	}
	f, moved := filled(t, content), false
	for range 20 {
		for _, operation := range []string{"read", "write", "read"} {
			for _, blocks := range []int{16, 3, 1} {
				must.Get(f.transfer(operation, blocks*BlockBytes))
				for block, held := range f.holds {
					moved = moved || held != block
				}
			}
		}
	}
	check.True(t, moved, "writing left every block as it was")
	held := make([]byte, 1)
	must.Get(f.ReadAt(held, 5*BlockBytes+7))
	must.Get(f.WriteAt([]byte{held[0] ^ 1}, 5*BlockBytes+7))
	contains.Error(t, must.Err(f.transfer("read", len(content))), "block 5")
}

// A file system without O_TMPFILE.
func TestAnonymous(t *testing.T) {
	dir := t.TempDir()
	f, err := anonymous(dir)
	skip.If(t, err != nil, "files in use cannot be removed here: %v", err)
	defer f.Close()
	check.Empty(t, must.Get(os.ReadDir(dir)), "names of the file")
	check.NoError(t, must.Err(f.WriteAt([]byte("τ"), 0)), "WriteAt")
	check.Error(t, must.Err(anonymous(filepath.Join(dir, "none"))), "a file in a directory that is not there")
}

// Times that do not grow with m have no bandwidth: none in a table, null in JSON.
func TestFitWithoutBandwidth(t *testing.T) {
	f := &params.File{}
	for i, m := range []int{4096, 8192, 16384, 32768} {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.DiskCell, Bytes: m}.Named("read-cached"), Time: fit.Median([]float64{1000 - 50*float64(i)})})
	}
	contains.All(t, string(must.Get(json.Marshal(Fits(f.Cells)))), `"mb_s":null`)
	tables := Tables(f)
	last := tables[len(tables)-1]
	check.True(t, last.Title == "T = T_s + m·τ" && len(last.Rows) == 1 && last.Rows[0][3] == "-", "%+v", last)
}
