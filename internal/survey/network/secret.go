package network

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/taulop/taulop/internal/infile"
)

// Bytes of a secret.
const (
	leastSecret = 16
	mostSecret  = 4096
)

// ErrSecret advises a secret apart from the home directory.
var ErrSecret = errors.New("name a file that all hosts have")

// OwnSecret is the default path of a user's secret, in the home directory, which hosts often share.
func OwnSecret() (path string, err error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no home to keep a secret in (%w): %w", err, ErrSecret)
	}
	return filepath.Join(dir, "taulop", "net-secret"), nil
}

// ReadSecret reads a secret from a file that only its owner can read. makeIt creates a missing file;
// of several hosts that do so at once, one succeeds.
func ReadSecret(path string, makeIt bool) (Secret, error) {
	in, err := infile.Open(path)
	if errors.Is(err, fs.ErrNotExist) && makeIt {
		if err := makeSecret(path); err != nil {
			return nil, fmt.Errorf("no secret can be kept in %s (%w): %w", path, err, ErrSecret)
		}
		in, err = infile.Open(path)
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%s may be read by others: chmod 600 %s, or make another", path, path)
	}
	text, err := io.ReadAll(io.LimitReader(in, mostSecret+1))
	if err != nil {
		return nil, err
	}
	if text = bytes.TrimSpace(text); len(text) < leastSecret || len(text) > mostSecret {
		return nil, fmt.Errorf("%s has %d bytes; want a secret of %d to %d, such as openssl rand -hex 32 makes", path, len(text), leastSecret, mostSecret)
	}
	return text, nil
}

// makeSecret creates the file atomically and keeps one that is there.
func makeSecret(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".net-secret-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(rand.Text() + rand.Text() + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
