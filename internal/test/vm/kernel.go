package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const qemu = "qemu-system-x86_64"

// needQEMU installs it where it is missing.
func needQEMU(ctx context.Context) error {
	if _, err := exec.LookPath(qemu); err == nil {
		return nil
	}
	if err := apt(ctx, "update"); err != nil {
		return fmt.Errorf("%s is missing: install it (Debian's package qemu-system-x86): %w", qemu, err)
	}
	return apt(ctx, "install", "-y", "--no-install-recommends", "qemu-system-x86")
}

// needKernel returns the path of Debian's kernel for clouds, which has few
// drivers and boots fast. It is unpacked from its package and kept in dir.
func needKernel(ctx context.Context, dir string) (string, error) {
	kept, err := filepath.Glob(filepath.Join(dir, "vmlinuz-*"))
	if err != nil {
		return "", err
	}
	if len(kept) > 0 {
		return kept[0], nil
	}
	const meta = "linux-image-cloud-amd64"
	name, err := dependency(ctx, meta)
	if err != nil { // a fresh machine has no lists of packages
		if err := apt(ctx, "update"); err != nil {
			return "", fmt.Errorf("no kernel to boot: name one with -kernel: %w", err)
		}
		if name, err = dependency(ctx, meta); err != nil {
			return "", err
		}
	}
	download, err := os.MkdirTemp(dir, "download-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(download)
	get := func() error {
		cmd := exec.CommandContext(ctx, "apt-get", "-q", "download", name)
		cmd.Dir = download
		return quietly(cmd)
	}
	if err := get(); err != nil { // the lists are older than the archive
		if err := errors.Join(apt(ctx, "update"), get()); err != nil {
			return "", err
		}
	}
	packages, err := filepath.Glob(filepath.Join(download, "*.deb"))
	if err != nil || len(packages) != 1 {
		return "", fmt.Errorf("apt-get download %s left %v, want one package", name, packages)
	}
	return unpackKernel(ctx, packages[0], dir)
}

// dependency is the package that a package of no content stands for.
func dependency(ctx context.Context, meta string) (string, error) {
	out, err := exec.CommandContext(ctx, "apt-cache", "depends", meta).Output()
	if err != nil {
		return "", fmt.Errorf("apt-cache depends %s: %w", meta, err)
	}
	found := regexp.MustCompile(`Depends: (linux-image-\S+)`).FindSubmatch(out)
	if found == nil {
		return "", fmt.Errorf("apt-cache knows no kernel that %s depends on", meta)
	}
	return string(found[1]), nil
}

func unpackKernel(ctx context.Context, deb, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	defer cmd.Wait()
	defer pipe.Close()
	for files := tar.NewReader(pipe); ; {
		file, err := files.Next()
		if errors.Is(err, io.EOF) {
			return "", fmt.Errorf("%s lacks boot/vmlinuz", deb)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", deb, err)
		}
		if name := filepath.Base(file.Name); strings.HasPrefix(name, "vmlinuz-") {
			content, err := io.ReadAll(files)
			if err != nil {
				return "", fmt.Errorf("%s: %w", deb, err)
			}
			kernel := filepath.Join(dir, name)
			// Under its name only when it is whole.
			return kernel, errors.Join(os.WriteFile(kernel+".part", content, 0o644), os.Rename(kernel+".part", kernel))
		}
	}
}

func apt(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-q"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	return quietly(cmd)
}

// quietly runs a command that is of interest only if it fails.
func quietly(cmd *exec.Cmd) error {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}
