package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

const completionHelp = `Completion writes what has a shell complete commands, flags and their values.

  taulop completion bash|zsh|fish

Examples:
  source <(taulop completion bash)                       in ~/.bashrc
  taulop completion zsh >"${fpath[1]}/_taulop"           once
  taulop completion fish >~/.config/fish/completions/taulop.fish

Flags:
`

// shells have completions.
var shells = []string{"bash", "zsh", "fish"}

// completionCommand is the subcommand.
func completionCommand(_ context.Context, out, _ io.Writer, args []string) error {
	flags := flag.NewFlagSet("taulop completion", flag.ContinueOnError)
	words, err := parseWords(flags, out, args, completionHelp)
	if err != nil {
		return err
	}
	if len(words) != 1 {
		return usagef("name one shell: taulop completion %s", strings.Join(shells, "|"))
	}
	b := bufio.NewWriter(verbatim(out))
	defer b.Flush()
	all := completed()
	switch words[0] {
	case "bash":
		writeBash(b, all)
	case "zsh":
		writeZsh(b, all)
	case "fish":
		writeFish(b, all)
	default:
		return usagef("there is no completion for %q: take one of %s", words[0], strings.Join(shells, ", "))
	}
	return nil
}

// A completion is what there is to complete of a command.
type completion struct {
	command
	settings []setting
	words    []string // operands
	files    bool     // are operands, too
}

func completed() (all []completion) {
	for _, c := range commands {
		d := describe(c)
		of := completion{command: c, settings: settings(d.flags)}
		of.words, of.files = operands(c.name)
		if c.also != nil {
			known := make(map[string]bool)
			for _, s := range of.settings {
				known[s.name] = true
			}
			for _, s := range settings(describe(c, c.also...).flags) {
				if !known[s.name] {
					of.settings = append(of.settings, s)
				}
			}
		}
		all = append(all, of)
	}
	return all
}

// takesFile tells flags whose value is a file or a directory.
func (s setting) takesFile() bool {
	return s.value == "file" || s.value == "DIR" || s.value == "FILE"
}

// first is the first clause of a usage, for a list of flags.
func (s setting) first() string {
	text, _, _ := strings.Cut(strings.ReplaceAll(s.usage, "`", ""), ";")
	text, _, _ = strings.Cut(text, " (default")
	return text
}

func writeBash(w io.Writer, all []completion) {
	fmt.Fprint(w, `# bash completion of taulop; made by taulop completion bash
_taulop() {
    local line=${COMP_LINE:0:COMP_POINT} cur prev cmd= flags= words= values= files= reply
    local -a word
    read -ra word <<<"$line"
    [[ $line == *[[:space:]] ]] && word+=("")
    local n=$((${#word[@]} - 1))
    cur=${word[n]} prev=${word[n-1]}
    ((n > 1)) && cmd=${word[1]}
    case $cmd in
`)
	for _, c := range all[1:] {
		bashCase(w, c.name, c)
	}
	bashCase(w, "*", all[0])
	fmt.Fprint(w, `    esac
    case "$cmd $prev" in
`)
	for _, c := range all {
		pattern := fmt.Sprintf("%q", c.name+" -%s")
		if c.name == "" {
			pattern = `*" -%s"`
		}
		for _, s := range c.settings {
			if s.value == "" {
				continue
			}
			does := "flags= words="
			if s.takesFile() {
				does += " files=1"
			} else {
				does += " files="
			}
			if of := choices(c.name, s.name); of != nil {
				does += fmt.Sprintf(" values='%s'", strings.Join(of, " "))
			}
			fmt.Fprintf(w, "    "+pattern+") %s ;;\n", s.name, does)
		}
	}
	fmt.Fprint(w, `    esac
    [[ $cur == -* ]] && values=$flags || values+=" $words"
    reply=$(compgen -W "$values" -- "$cur")
    [[ -n $files && $cur != -* ]] && { compopt -o filenames 2>/dev/null; reply+=$'\n'$(compgen -f -- "$cur"); }
    # A colon ends a word for bash: what stands before it is there already.
    local before=
    [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]] && before=${cur%"${cur##*:}"}
    COMPREPLY=()
    while read -r line; do
        [[ -n $line ]] && COMPREPLY+=("${line#"$before"}")
    done <<<"$reply"
}
complete -F _taulop taulop
`)
}

// bashCase sets the flags and words of a command.
func bashCase(w io.Writer, pattern string, c completion) {
	flags := lists.Map(c.settings, func(s setting) string { return "-" + s.name })
	files := ""
	if c.files {
		files = " files=1"
	}
	fmt.Fprintf(w, "    %s)\n        flags='%s'\n        words='%s'%s ;;\n", pattern, strings.Join(flags, " "), strings.Join(c.words, " "), files)
}

func writeZsh(w io.Writer, all []completion) {
	quote := func(text string) string {
		return strings.NewReplacer("'", `'\''`, "[", `\[`, "]", `\]`, ":", `\:`).Replace(text)
	}
	fmt.Fprint(w, "#compdef taulop\n# zsh completion of taulop; made by taulop completion zsh\n_taulop() {\n    local -a commands\n    commands=(\n")
	for _, c := range all[1:] {
		fmt.Fprintf(w, "        '%s:%s'\n", c.name, quote(c.about))
	}
	fmt.Fprint(w, "    )\n    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n        _describe command commands\n        return\n    fi\n    local command=$words[2]\n    (( $+commands[(r)$command:*] )) && { shift words; (( CURRENT-- )) }\n    case $command in\n")
	for _, c := range append(all[1:], all[0]) {
		pattern := c.name
		if pattern == "" {
			pattern = "*"
		}
		fmt.Fprintf(w, "    %s) _arguments", pattern)
		for _, s := range c.settings {
			fmt.Fprintf(w, " \\\n        '-%s[%s]", s.name, quote(s.first()))
			switch of := choices(c.name, s.name); {
			case s.value == "":
			case of != nil:
				fmt.Fprintf(w, ":%s:(%s)", quote(s.value), quote(strings.Join(of, " ")))
			case s.takesFile():
				fmt.Fprintf(w, ":%s:_files", quote(s.value))
			default:
				fmt.Fprintf(w, ":%s:", quote(s.value))
			}
			fmt.Fprint(w, "'")
		}
		if len(c.words) > 0 && c.name != "" {
			fmt.Fprintf(w, " \\\n        '*:operand:(%s)'", quote(strings.Join(c.words, " ")))
		}
		if c.files && len(c.words) == 0 {
			fmt.Fprint(w, " \\\n        '*:file:_files'")
		}
		fmt.Fprint(w, " ;;\n")
	}
	fmt.Fprint(w, "    esac\n}\ncompdef _taulop taulop\n")
}

func writeFish(w io.Writer, all []completion) {
	quote := func(text string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
	}
	fmt.Fprint(w, "# fish completion of taulop; made by taulop completion fish\ncomplete -c taulop -f\n")
	var names []string
	for _, c := range all[1:] {
		names = append(names, c.name)
		fmt.Fprintf(w, "complete -c taulop -n __fish_use_subcommand -a %s -d %s\n", c.name, quote(c.about))
	}
	for _, c := range all {
		when := "'__fish_seen_subcommand_from " + c.name + "'"
		if c.name == "" {
			when = "'not __fish_seen_subcommand_from " + strings.Join(names, " ") + "'"
		}
		for _, s := range c.settings {
			fmt.Fprintf(w, "complete -c taulop -n %s -o %s -d %s", when, s.name, quote(s.first()))
			switch of := choices(c.name, s.name); {
			case s.value == "":
			case of != nil:
				fmt.Fprintf(w, " -x -a %s", quote(strings.Join(of, " ")))
			case s.takesFile():
				fmt.Fprint(w, " -r -F")
			default:
				fmt.Fprint(w, " -x")
			}
			fmt.Fprintln(w)
		}
		if len(c.words) > 0 && c.name != "" {
			fmt.Fprintf(w, "complete -c taulop -n %s -a %s\n", when, quote(strings.Join(c.words, " ")))
		}
		if c.files {
			fmt.Fprintf(w, "complete -c taulop -n %s -F\n", when)
		}
	}
}
