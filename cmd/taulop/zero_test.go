package main

import (
	"encoding/csv"
	"strings"
	"testing"
)

// zeroTables are two published tables, of which the first has L(1,1) = 0.
func zeroTables(t *testing.T) (zero, good string) {
	t.Helper()
	const table = "#m\t3\n#tau\t4\n#m\to(m)\tL(m,1)\tL(m,2)\tL(m,3)\tL(m,4)\n" +
		"1\t0.000001\tFIRST\t0.000035\t0.000036\t0.000037\n64\t0.000001\t0.000030\t0.000036\t0.000037\t0.000038\n" +
		"128\t0.000001\t0.000031\t0.000037\t0.000038\t0.000039\n"
	write := func(name, first string) string {
		path := save(t, t.TempDir(), name, strings.Replace(table, "FIRST", first, 1))
		return path
	}
	return write("zero.txt", "0.000000"), write("good.txt", "0.000030")
}

// What is not known is not ranked, and text and CSV say the same.
func TestZerosAreNotRanked(t *testing.T) {
	zero, good := zeroTables(t)
	text, _ := ran(t, "compare", "-m", "1", zero, good)
	for _, want := range []string{"zero  ? ns  ? of 4  ", "A(τ) of zero is unknown, since L(m,1) is 0 in its file"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, wrong := range []string{"at τ = 1", "NaN", "zero carries", "good carries"} {
		if strings.Contains(text, wrong) {
			t.Errorf("%q in\n%s", wrong, text)
		}
	}
	table, _ := ran(t, "compare", "-csv", "-m", "1", zero, good)
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := make(map[string]int)
	for i, name := range rows[0] {
		at[name] = i
	}
	for _, row := range rows[1:] {
		if row[at["machine"]] != "zero" {
			continue
		}
		for _, name := range []string{"A", "saturation_tau", "saturated", "sigma"} {
			if row[at[name]] != "" {
				t.Errorf("τ = %s: %s is %q", row[at["tau"]], name, row[at[name]])
			}
		}
		if L := row[at["L_ns"]]; (L == "") != (row[at["tau"]] == "1") {
			t.Errorf("L(1,%s) is %q", row[at["tau"]], L)
		}
	}
	if doc, _, err := run(t, "compare", "-json", "-m", "1", zero, good); err != nil || strings.Contains(doc, "NaN") {
		t.Errorf("%v", err)
	}
}

func TestZerosHaveNoCheapest(t *testing.T) {
	t.Parallel()
	zero, _ := zeroTables(t)
	text, errOut := ran(t, "predict", "-params", zero, "-P", "4", "-m", "1,512", "bcast")
	if !strings.Contains(errOut, "L(1,1) is 0, which is no time") {
		t.Errorf("no warning: %s", errOut)
	}
	cheapest := false
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) > 1 && fields[0] == "1" && (!strings.Contains(line, "?") || strings.Contains(line, "*")) {
			t.Errorf("%s", line)
		}
		cheapest = cheapest || len(fields) > 1 && fields[0] == "512" && strings.Contains(line, "*")
	}
	if !cheapest {
		t.Errorf("m = 512 has no cheapest:\n%s", text)
	}
	table, _, err := run(t, "predict", "-tsv", "-params", zero, "-P", "4", "-m", "1", "bcast:linear")
	if err != nil || !strings.HasSuffix(table, "\t1\t\n") {
		t.Errorf("%q, %v", table, err)
	}
	text, _, err = run(t, "explain", "-params", zero, "-P", "4", "-m", "1", "bcast:linear")
	if err != nil || !strings.Contains(text, "m = 1 B: ? µs") || !strings.Contains(text, "a time of 0") {
		t.Errorf("%v\n%s", err, text)
	}
	text, _, err = run(t, "explain", "-compare", "-params", zero, "-P", "4", "bcast")
	if err != nil || !strings.Contains(text, "unknown, since the parameters have a time of 0") {
		t.Errorf("%v\n%s", err, text)
	}
}
