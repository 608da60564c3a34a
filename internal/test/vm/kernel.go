package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const qemu = "qemu-system-x86_64"

// unpack downloads and unpacks the kernel on which Debian's meta package depends.
const unpack = `apt-get -q update &&
apt-get -q download $(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[^ ]*\).*/\1/p') &&
dpkg-deb -x *.deb .`

// needKernel returns the path of Debian's cloud kernel, which has few drivers and boots fast. It is kept
// in dir.
func needKernel(ctx context.Context, dir string) (string, error) {
	kept, err := filepath.Glob(filepath.Join(dir, "vmlinuz-*"))
	if err != nil {
		return "", err
	}
	if len(kept) > 0 {
		return kept[0], nil
	}
	download, err := os.MkdirTemp(dir, "download-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(download)
	get := exec.CommandContext(ctx, "sh", "-c", unpack)
	get.Dir = download
	if err := quietly(get); err != nil {
		return "", fmt.Errorf("no kernel to boot: name one with -kernel: %w", err)
	}
	unpacked, err := filepath.Glob(filepath.Join(download, "boot", "vmlinuz-*"))
	if err != nil || len(unpacked) == 0 {
		return "", errors.Join(errors.New("the package lacks boot/vmlinuz: name a kernel with -kernel"), err)
	}
	kernel := filepath.Join(dir, filepath.Base(unpacked[0]))
	return kernel, os.Rename(unpacked[0], kernel) // atomic
}

// quietly runs a command and shows its output only if it fails.
func quietly(cmd *exec.Cmd) error {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}
