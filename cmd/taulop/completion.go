package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/argument"
)

// shells are the shells with a completion script.
var shells = []string{"bash", "zsh", "fish"}

// asked precedes a command line whose last word a shell asks to complete.
const asked = "words"

// completionFlags is the subcommand.
func completionFlags(*argument.Set) action {
	return func(_ context.Context, out io.Writer, _ *messages, words []string) error {
		out = verbatim(out)
		if len(words) > 1 && words[0] == asked {
			for _, c := range complete(words[1:]) {
				fmt.Fprintln(out, c)
			}
			return nil
		}
		if len(words) != 1 {
			return usagef("name one shell: taulop completion %s", strings.Join(shells, "|"))
		}
		script, err := pages.ReadFile("help/completion." + words[0])
		if err != nil {
			return usagef("there is no completion for %q: take one of %s", words[0], strings.Join(shells, ", "))
		}
		_, err = out.Write(script)
		return err
	}
}

// files asks the shell for file names; a tab and text after it are what the word has before the name.
const files = "@"

// complete are candidates for the last word of a command line, each with a tab and a description,
// and possibly files.
func complete(line []string) (all []string) {
	before, last := line[:len(line)-1], line[len(line)-1]
	offer := func(word, about string) {
		if strings.HasPrefix(word, last) {
			all = append(all, word+"\t"+about)
		}
	}
	c, words := find(before)
	c = c.mode(words)
	for _, s := range c.settings() {
		if given, is := s.begins(before, last); is {
			taken := "" // of a list, with its last comma
			if s.value == "list" || s.name == "params" {
				value := last[len(given):]
				taken = value[:strings.LastIndexByte(value, ',')+1]
			}
			for _, word := range s.words {
				if !slices.Contains(strings.Split(taken, ","), word) {
					offer(given+taken+word, "")
				}
			}
			if slices.Contains([]string{"file", "DIR", "FILE", "table"}, s.value) || s.name == "params" {
				all = append(all, strings.TrimSuffix(files+"\t"+given+taken, "\t"))
			}
			return all
		}
	}
	if strings.HasPrefix(last, "-") {
		for _, s := range c.settings() {
			offer("-"+s.name, s.first())
		}
		for _, m := range c.modes {
			offer("-"+m.name, m.about)
		}
		return all
	}
	if len(before) == 0 {
		for _, c := range commands[1:] {
			offer(c.name, c.about)
		}
	} else if c.name != "" && c.operands.words != nil {
		for _, word := range c.operands.words() {
			offer(word, "")
		}
	}
	if c.operands.files {
		all = append(all, files)
	}
	return all
}

// begins reports whether the last word of a line has a value of the flag. given is what it has before
// the value: nothing, or -name=.
func (s setting) begins(before []string, last string) (given string, is bool) {
	if name, _, valued := strings.Cut(last, "="); valued && flagName(name) == s.name {
		return name + "=", true
	}
	return "", len(before) > 0 && s.value != "" && flagName(before[len(before)-1]) == s.name && !strings.Contains(before[len(before)-1], "=")
}
