package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/randtest"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/params"
)

// hangs is the time limit of a command on slow and busy machines.
const hangs = time.Minute

// No damaged or planted file makes a command panic, hang, take 1 GB of memory, control a terminal, repeat
// long texts, or write a spreadsheet formula. Files and commands are a random choice.
func TestBadFiles(t *testing.T) {
	tries, _ := strconv.Atoi(os.Getenv("TAULOP_MUTATIONS"))
	tries = cmp.Or(tries, 3000)
	skip.Short(t, "writes and reads thousands of files")
	originals, dir := mutable(t)
	random := randtest.New(t)
	for i := range tries {
		o := originals[random.IntN(len(originals))]
		where, text := "damaged", mutate(random, o.text)
		if i%3 == 0 {
			where, text = plantIn(random, o.text)
		}
		file := save(t, dir, "mutant"+filepath.Ext(o.name), text)
		line := strings.Fields(strings.ReplaceAll(o.command, "MUTANT", file))
		err := checkShown(t, o.name+" "+where, line, filepath.Join(dir, "made.txt"))
		if said := fmt.Sprint(err); err != nil && where == "damaged" && (said == "" || strings.Contains(said, "\n") || exitStatus(err) != 1 && exitStatus(err) != 2 && line[0] != "sweep") {
			t.Errorf("%q: %q; want a sentence", line, said)
		}
		check.Need(t, !t.Failed(), "file %d is %.65536q", i, text)
		for _, made := range []string{"made.txt", "made.svg", "made.html", "SHM.txt", "gamma.txt"} {
			os.Remove(filepath.Join(dir, made))
		}
	}
}

// errUnbounded is the error of a command that panics, hangs or takes too much memory.
var errUnbounded = errors.New("out of bounds")

// bounded runs a command in this process.
func bounded(out, errOut io.Writer, line []string) (err error) {
	const most = 1 << 30
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	var before runtime.MemStats // with what other tests left
	runtime.ReadMemStats(&before)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				stack := make([]byte, 1<<12)
				done <- fmt.Errorf("%w: panic: %v\n%s", errUnbounded, r, stack[:runtime.Stack(stack, false)])
			}
		}()
		cmd, args := find(line)
		done <- cmd.run(ctx, out, errOut, args)
	}()
	if line[0] == "sweep" { // which measures as long as its plan says
		defer time.AfterFunc(250*time.Millisecond, cancel).Stop()
	}
	limit := time.NewTimer(hangs)
	defer limit.Stop()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-limit.C:
			return fmt.Errorf("%w: no end within %v", errUnbounded, hangs)
		case <-look.C:
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.HeapInuse > before.HeapInuse+most {
				return fmt.Errorf("%w: %d MB of memory", errUnbounded, (m.HeapInuse-before.HeapInuse)>>20)
			}
		}
	}
}

// An original is a file to damage, with a command that reads its kind.
type original struct {
	name, text string
	command    string // MUTANT is the file
}

// mutable are originals of every kind of input file. dir has the other files that commands name.
func mutable(t *testing.T) (all []original, dir string) {
	t.Helper()
	dir = fixtures(t)
	tables := []string{
		"compare MUTANT GOOD", "predict -params MUTANT -P 2,5 -m 1:4G bcast", "explain -params MUTANT -P 8 -m 64K bcast:binomial allgather:ring",
		"plot l-tau -o DIR/made.svg MUTANT", "report -o DIR/made.html MUTANT GOOD",
	}
	native := append(tables, "export -format csv MUTANT", "export -format benchfmt MUTANT", "export -format libtaulop DIR MUTANT",
		"predict -params MUTANT -model loggp -P 4 bcast", "predict -params MUTANT -model mlognp -P 2 bcast", "plot copy -o DIR/made.svg MUTANT",
		"plot pairs -o DIR/made.svg MUTANT", "explain -compare -params MUTANT -P 4 bcast:linear bcast:binomial",
		"predict -params MUTANT -P 4 -m 1:1G allreduce", "plot l-m -o DIR/made.svg MUTANT", "predict -params MUTANT -P 2 -op none reduce",
		"compare -setup none MUTANT GOOD", "compare -csv GOOD MUTANT", "compare -json MUTANT GOOD", "compare -o DIR/made.txt GOOD MUTANT",
		"predict -params MUTANT -P 2 -m 8K -tsv allreduce", "predict -params MUTANT -P 2 -m 8K -json bcast", "explain -params MUTANT -P 2 -m 8K -json bcast:linear",
		"verify -params MUTANT -against DIR/imb-2021.11.txt -o DIR/made.txt", "verify -params MUTANT -against DIR/imb-2021.11.txt -json")
	for _, kind := range plotKinds {
		if kind.command == "" {
			native = append(native, "plot "+kind.name+" -o DIR/made.svg MUTANT")
		}
	}
	predicted, _ := ran(t, "predict", "-json", "-params", dir+"/wide.txt", "-P", "2", "-m", "1K,2K", "bcast")
	save(t, dir, "predicted.json", predicted)
	ran(t, "import", "-format", "tidy", "-o", dir+"/m.json", dir+"/p2p.tsv")
	save(t, dir, "tiny.txt", tinySHM)
	save(t, dir, "tiny-gamma.txt", tinyGamma)
	save(t, dir, "plan.json", load(t, resumable(t, func(*params.Plan) {})))
	save(t, dir, "against.json", againstDocument)
	for _, output := range []string{"imb-2021.11.txt", "osu-5.3.txt"} {
		save(t, dir, output, load(t, "../../internal/mpibench/testdata", output))
	}
	benchmarks := []string{"verify -against MUTANT -params GOOD -P 4", "verify -json -against MUTANT -params GOOD", "import MUTANT"}
	for _, of := range []struct {
		file, good string
		commands   []string // GOOD is a parameter file beside it, DIR where others are
	}{
		{"talkative.json", "tiny.txt", native},
		{"tiny.txt", "swept.json", append(tables, "import MUTANT", "import MUTANT DIR/tiny-gamma.txt", "compare -as ring MUTANT GOOD", "compare -csv GOOD MUTANT")},
		{"tiny-gamma.txt", "tiny.txt", []string{"import GOOD MUTANT", "predict -params GOOD -gamma MUTANT -P 4 allreduce"}},
		{"imb-2021.11.txt", "tiny.txt", benchmarks},
		{"osu-5.3.txt", "tiny.txt", benchmarks},
		{"plan.json", "swept.json", append(native, "sweep -quiet -resume MUTANT")},
		{"verify.json", "", []string{"plot predicted -o DIR/made.svg MUTANT", "plot accuracy -o DIR/made.svg MUTANT", "plot accuracy -algorithm none -o DIR/made.svg MUTANT"}},
		{"predicted.json", "", []string{"plot predict -o DIR/made.svg MUTANT"}},
		{"against.json", "", []string{"plot published -o DIR/made.svg MUTANT"}},
		{"p2p.tsv", "", []string{"import MUTANT"}},
		{"coll.tsv", "m.json", []string{"verify -against MUTANT -params GOOD", "verify -json -against MUTANT -params GOOD"}},
		{"matrix.csv", "", []string{"import MUTANT"}},
		{"few.csv", "", []string{"map -nodes 2 MUTANT", "map -json MUTANT"}},
		{"messages.0.prof", "", []string{"map -nodes 2 MUTANT DIR/messages.1.prof"}},
		{"cannon.toml", "access.json", []string{"estimate -params GOOD MUTANT"}},
		{"messages.toml", "small/SHM.txt", []string{"estimate -params GOOD MUTANT"}},
		{"small/generic.json", "small/SHM.txt", []string{"tune -for mpich4 -params GOOD -base MUTANT -P 2 -m 16K bcast"}},
	} {
		named := strings.NewReplacer("GOOD", filepath.Join(dir, of.good), "DIR", dir)
		text := load(t, dir, of.file)
		for _, command := range of.commands {
			all = append(all, original{of.file, text, named.Replace(command)})
		}
	}
	return all, dir
}

var numeral = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?`)

// odd are replacements for a number.
var odd = []string{"0", "-1", "1", "1e308", "1e-320", "-0", "9223372036854775807", "18446744073709551616", "1125899906842624", "100000000",
	"1073741824", "65536", "16384", "8191", "NaN", "null", `"x"`, "[]", "{}", "1_000", "0x1p4", "0.5", "1e999", ""}

// mutate changes a text in a few places as editors, transfers and attackers do.
func mutate(random *rand.Rand, text string) string {
	for range 1 + random.IntN(3) {
		if len(text) == 0 {
			return text
		}
		at := random.IntN(len(text))
		end := min(len(text), at+1+random.IntN(40))
		switch random.IntN(12) {
		case 0: // cut
			text = text[:at]
		case 1: // a piece is missing
			text = text[:at] + text[end:]
		case 2: // a piece is there twice
			text = text[:end] + text[at:]
		case 3: // a byte is another
			text = text[:at] + string([]byte{byte(random.IntN(256))}) + text[at+1:]
		case 4: // lines change places
			lines := strings.SplitAfter(text, "\n")
			i, j := random.IntN(len(lines)), random.IntN(len(lines))
			lines[i], lines[j] = lines[j], lines[i]
			text = strings.Join(lines, "")
		case 5: // long
			text = text[:at] + strings.Repeat(text[at:end], 1+random.IntN(1000)) + text[end:]
		default: // another number
			places := numeral.FindAllStringIndex(text, -1)
			if len(places) == 0 {
				continue
			}
			place := places[random.IntN(len(places))]
			text = text[:place[0]] + odd[random.IntN(len(odd))] + text[place[1]:]
		}
	}
	return text
}
