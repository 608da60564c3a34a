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

	"github.com/taulop/taulop/internal/test/must"
)

const qemu = "qemu-system-x86_64"

// unpack downloads and unpacks the kernel on which Debian's meta package depends.
const unpack = `apt-get -q update &&
apt-get -q download $(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[^ ]*\).*/\1/p') &&
dpkg-deb -x *.deb .`

// needKernel returns the path of Debian's cloud kernel, which has few drivers and boots fast. It is kept
// in dir. An error is a panic.
func needKernel(ctx context.Context, dir string) string {
	if kept := must.Get(filepath.Glob(filepath.Join(dir, "vmlinuz-*"))); len(kept) > 0 {
		return kept[0]
	}
	download := must.Get(os.MkdirTemp(dir, "download-"))
	defer os.RemoveAll(download)
	get := exec.CommandContext(ctx, "sh", "-c", unpack)
	get.Dir = download
	if err := quietly(get); err != nil {
		panic(fmt.Errorf("no kernel to boot: name one with -kernel: %w", err))
	}
	unpacked := must.Get(filepath.Glob(filepath.Join(download, "boot", "vmlinuz-*")))
	if len(unpacked) == 0 {
		panic(errors.New("the package lacks boot/vmlinuz: name a kernel with -kernel"))
	}
	kernel := filepath.Join(dir, filepath.Base(unpacked[0]))
	must.Do(os.Rename(unpacked[0], kernel)) // atomic
	return kernel
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
