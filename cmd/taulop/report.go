package main

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/report/page"
)

// reportFlags is the subcommand.
func reportFlags(flags *argument.Set) action {
	var output output
	var state stateChoice
	var as string
	addAs(flags, &as)
	md := flags.Bool("md", false, "Markdown, a page of each machine without its host's name, with figures as SVG files beside it")
	state.add(flags, "each by itself; of a fleet means over all by their shares")
	flags.Required("o", "name the page, like taulop report -o report.html host.json")
	flags.Check(func() error {
		ext := strings.ToLower(filepath.Ext(output.path))
		switch *md = *md || slices.Contains([]string{".md", ".markdown"}, ext); {
		case *md && slices.Contains([]string{".html", ".htm"}, ext):
			return usagef("-o %s is no name of Markdown: name it .md, or leave -md out", output.path)
		case slices.Contains([]string{".pdf", ".png", ".svg"}, ext):
			return usagef("-o %s: a page is HTML or Markdown, so name it .html or .md; taulop plot makes figures", output.path)
		case *md && output.path == "-":
			return usagef("-o - has no place for figures beside it: name a file with -md")
		}
		return nil
	})
	output.add(flags, "the page, a new `file`: .md is Markdown, as -md, another one HTML")
	return func(_ context.Context, out io.Writer, errOut *messages, paths []string) error {
		out = output.offTerminal(out)
		machines, skipped, err := compare.ReadAll(paths)
		if err != nil {
			return usagef("%v", unreadable(err, paths...))
		}
		if each, err := state.each(machines); err != nil {
			return err
		} else if len(each) < compare.Fleet && !*md { // which show means
			machines = each
		}
		warn(errOut, takePublished(machines, as))
		missed := skippedFiles(errOut, skipped, len(paths))
		if *md {
			err = writeMarkdown(out, flags, &output, machines)
		} else {
			p := page.Page{Machines: machines, Skipped: skipped, Raw: func(path string) ([]byte, error) {
				return infile.Read(path, func(r io.Reader, _ string) ([]byte, error) { return io.ReadAll(r) })
			}}
			err = output.write(out, p.Write)
		}
		return cmp.Or(err, missed)
	}
}

// writeMarkdown writes a page, and then its figures beside it. If the page fails, it writes no
// figures.
func writeMarkdown(out io.Writer, flags *argument.Set, to *output, machines []compare.Machine) error {
	beside := strings.TrimSuffix(to.path, filepath.Ext(to.path))
	var text bytes.Buffer
	var figures []func() error
	err := page.WriteMarkdown(&text, machines, func(name string, write func(io.Writer) error) (string, error) {
		path := beside + "-" + name + ".svg"
		file, err := fresh(flags, "the figure "+path, path, to.force)
		figures = append(figures, func() error { return file.Write(write) })
		return url.PathEscape(filepath.Base(path)), err
	})
	if err == nil {
		err = to.write(out, asText(exactly(text.Bytes())))
	}
	for _, write := range figures {
		if err == nil {
			err = write()
		}
	}
	return err
}
