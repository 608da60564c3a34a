package mpibench

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Text that launchers and job systems add to a rank's line.
var (
	// Colours and other controls of terminals: CSI and OSC sequences.
	controls = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78cDEHM])`)

	prefixes = []*regexp.Regexp{
		// Open MPI's --tag-output and --timestamp-output, PRRTE's --output tag and
		// tag-detailed: "[1,0]<stdout>:", "Sat Nov 21 21:35:37 2026<stdout>:", both, and
		// "[prterun-host-17@1,0][host:17]<stdout>: ".
		regexp.MustCompile(`^(?:` + dated + `)?(?:\[[^][\s]*\d+,\d+\](?:\[[^][]*\])*)?<std(?:out|err|diag)>:`),
		// ISO 8601, with a T or a blank, in brackets or not; a date may be missing.
		regexp.MustCompile(`^\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?(?:\s+|:\s|$)`),
		// ts of moreutils and date: "Nov 21 21:35:37", "Sat Nov 21 21:35:37 2026".
		regexp.MustCompile(`^\[?` + dated + `\]?(?:\s+|:\s|$)`),
		// ts -s and dmesg: seconds, which have a point in brackets.
		regexp.MustCompile(`^\[\s*\d+\.\d+\]\s`),
		// MPICH's and Intel MPI's -l and -prepend-rank.
		regexp.MustCompile(`^\[\d+\](?:\s|$)`),
		// srun -l, which pads ranks: " 0: ".
		regexp.MustCompile(`^\d+:(?:\s|$)`),
	}
	// A host's name before a line: "node01: " of pdsh, clush and dsh, "node01  | " of Compose. A title has to
	// follow once, because words of other programs look alike.
	hosts = regexp.MustCompile(`^([\w.-]+ *[:|])\s+(\S.*)$`)
	// Lines that no benchmark prints.
	standardError = regexp.MustCompile(`<std(?:err|diag)>:`)
)

// Dates of ts have neither weekday nor year, dates of date and ctime have both: a number after a date of ts is
// not a year.
const (
	month = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)`
	clock = `\d\d:\d\d:\d\d(?:\.\d+)?`
	dated = `(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:` + month + ` +\d{1,2}|\d{1,2} +` + month + `) +` + clock + `(?: +[A-Z]{3,4})? +\d{4}|` + month + ` +\d{1,2} +` + clock + `)`
)

// mostPrefixes allows a rank's tag and times of the launcher and the job system.
const mostPrefixes = 4

// bare is the rank's part of a line; "" for standard error.
func bare(line string) string {
	if strings.IndexByte(line, 0x1b) >= 0 {
		line = controls.ReplaceAllString(line, "")
	}
	line = strings.TrimSpace(strings.TrimRight(line, "\x1a \t\r\n"))
	for range mostPrefixes {
		rest := line
		for _, p := range prefixes {
			if at := p.FindStringIndex(line); at != nil {
				if standardError.MatchString(line[:at[1]]) {
					return ""
				}
				rest = strings.TrimSpace(line[at[1]:])
				break
			}
		}
		if rest == line {
			break
		}
		line = rest
	}
	return line
}

// hostTags are the names of hosts before lines; the last is of the current table.
type hostTags []string

// bare is a line without prefixes. It fails if lines of two hosts alternate.
func (t *hostTags) bare(line string) (string, error) {
	text := bare(line)
	if m := hosts.FindStringSubmatch(text); m != nil && isTitle(bare(m[2])) {
		*t = append(slices.DeleteFunc(*t, func(tag string) bool { return tag == m[1] }), m[1])
	}
	for i, tag := range *t {
		rest, tagged := strings.CutPrefix(text, tag)
		if rest = bare(rest); !tagged {
			continue
		}
		if last := len(*t) - 1; i < last && rest != "" {
			return "", fmt.Errorf("lines of %.40q and %.40q alternate: give what each host printed in a file of its own", tag, (*t)[last])
		}
		return rest, nil
	}
	return text, nil
}

// isTitle reports whether an output or a table begins.
func isTitle(text string) bool {
	return imbBanner.MatchString(text) || imbTitle.MatchString(text) || osuTitle.MatchString(text)
}

// isNumber reports whether a row begins with a number, 1_000 and 0x10 included: such rows are errors,
// not another program's lines.
func isNumber(text string) bool {
	text = strings.ReplaceAll(text, "_", "")
	_, float := strconv.ParseFloat(text, 64)
	_, whole := strconv.ParseInt(text, 0, 64)
	return float == nil || whole == nil
}

// isPartOfTitle reports whether an output was cut within the title of a table.
func isPartOfTitle(text string) bool {
	return len(text) > len("# ") && slices.ContainsFunc([]string{"# Benchmarking", "# OSU MPI"}, func(title string) bool {
		return strings.HasPrefix(title, text)
	})
}
