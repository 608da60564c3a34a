package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// bochsFile describes a machine to Bochs, whose clock counts instructions. The console
// is the first serial line.
const bochsFile = `romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
cpu: model=%s, count=1, ips=200000000, reset_on_triple_fault=0
memory: guest=%d, host=%[2]d
boot: cdrom
ata0-master: type=cdrom, path=disc.iso, status=inserted
com1: enabled=1, mode=file, dev=/dev/stdout
display_library: nogui
speaker: enabled=0
clock: sync=none
panic: action=fatal
log: bochs.txt
`

// inBochs is the command that boots the machine. Bochs takes neither a kernel nor its
// command line: they are on a disc, with GRUB.
func (b boot) inBochs(ctx context.Context) (*exec.Cmd, error) {
	dir := filepath.Join(b.work, b.machine.Name)
	boot := filepath.Join(dir, "disc", "boot")
	if err := os.MkdirAll(filepath.Join(boot, "grub"), 0o755); err != nil {
		return nil, err
	}
	for from, to := range map[string]string{b.kernel: "vmlinuz", b.initrd: "initrd"} {
		content, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(boot, to), content, 0o644)
		}
		if err != nil {
			return nil, err
		}
	}
	menu := fmt.Sprintf("set timeout=0\nlinux /boot/vmlinuz %s\ninitrd /boot/initrd\nboot\n", b.options())
	if err := os.WriteFile(filepath.Join(boot, "grub", "grub.cfg"), []byte(menu), 0o644); err != nil {
		return nil, err
	}
	config := fmt.Sprintf(bochsFile, b.machine.Bochs, b.machine.Nodes[0].MemoryMB)
	if err := os.WriteFile(filepath.Join(dir, "bochs.conf"), []byte(config), 0o644); err != nil {
		return nil, err
	}
	disc := exec.CommandContext(ctx, "grub-mkrescue", "-o", filepath.Join(dir, "disc.iso"), filepath.Join(dir, "disc"))
	if err := quietly(disc); err != nil {
		return nil, fmt.Errorf("a disc to boot from needs Debian's packages grub-common, grub-pc-bin, xorriso and mtools: %w", err)
	}
	cmd := exec.CommandContext(ctx, b.bochs, "-q", "-f", "bochs.conf")
	cmd.Dir = dir
	return cmd, nil
}
