package mpi

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

func TestLibraries(t *testing.T) {
	seen := make(map[string]bool)
	for _, l := range Libraries() {
		if seen[l.Name] || l.Title == "" || len(l.Ways) == 0 || l.Version == "" || l.own == nil {
			t.Errorf("%+v", l)
		}
		seen[l.Name] = true
		least := 0
		for i, w := range l.Ways {
			last := i == len(l.Ways)-1
			switch {
			case w.Source == "":
				t.Errorf("%s: way %d has no source", l.Name, i)
			case last != (w.Most == 0), !last && w.Most <= least:
				t.Errorf("%s: way %d is of messages up to %d, and the one before of %d", l.Name, i, w.Most, least)
			case w.Single != (w.Segment == 0 && w.Segments == 0), w.Single && w.Request+w.Control > 0, w.Request >= max(1, w.Segment) && !w.Single:
				t.Errorf("%s: way %d copies once and twice: %+v", l.Name, i, w)
			}
			least = w.Most
		}
		if found, err := Named(strings.ToUpper(l.Name)); err != nil || found != l {
			t.Errorf("%s: %v, %v", l.Name, found, err)
		}
	}
}

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		library string
		bytes   int
		single  bool
	}{
		{"openmpi4", 0, false}, {"openmpi4", 4032, false}, {"openmpi4", 4033, true}, {"openmpi4", 1 << 30, true},
		{"openmpi4-none", 1 << 30, false},
		{"mpich4", 8248, false}, {"mpich4", 8249, true},
	} {
		l := must.Get(Named(tt.library))
		if w := l.Of(tt.bytes); w.Single != tt.single {
			t.Errorf("%s, %d bytes: %+v", tt.library, tt.bytes, w)
		}
	}
}

func TestNamedRefuses(t *testing.T) {
	if _, err := Tunable("openmpi3"); err == nil || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("openmpi3 is tunable: %v", err)
	}
	for name, nearest := range map[string]string{"openmpi3": "openmpi4", "openmpi7": "openmpi6", "mpich5": "mpich5.1", "mpich": "mpich4", "OpenMPI5.0": "openmpi5", "mpich4ofi": "mpich4-ofi"} {
		_, err := Named(name)
		if err == nil || !strings.Contains(err.Error(), `did you mean "`+nearest+`"?`) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v; want the nearest %s", name, err, nearest)
		}
	}
}

const ompiInfo = `                MCA coll: sm (MCA v2.1.0, API v2.0.0, Component v4.1.4)
                MCA coll: tuned (MCA v2.1.0, API v2.0.0, Component v4.1.4)
                MCA coll: han (MCA v2.1.0, API v2.0.0, Component v4.1.4)
                MCA coll: sm (MCA v2.1.0, API v2.0.0, Component v4.1.4)
                MCA fbtl: posix (MCA v2.1.0, API v2.0.0, Component v4.1.4)
`

func TestReadComponents(t *testing.T) {
	all, err := ReadComponents(strings.NewReader(ompiInfo), "info")
	if err != nil || len(all) != 2 || fmt.Sprint(all) != "[{sm [OMPI_MCA_coll_sm_priority=100]} {han [OMPI_MCA_coll_han_priority=100]}]" {
		t.Errorf("%v %v", all, err)
	}
	if _, err := ReadComponents(strings.NewReader("nothing"), "info"); err == nil {
		t.Error("a text without components is read")
	}
}

func TestComponents(t *testing.T) {
	names := func(words ...string) (text string, err error) {
		all, err := Components(words, func(file string) ([]Component, error) { return nil, errors.New("reads " + file) })
		for _, c := range all {
			text += c.Name + " "
			if again, there := ComponentNamed(c.Name); !there || fmt.Sprint(again) != fmt.Sprint(c) {
				t.Errorf("%s is %v", c.Name, again)
			}
		}
		return text, err
	}
	for words, want := range map[string]string{
		"4.0 UCX_RNDV_THRESH=8192": "hcoll sm UCX_RNDV_THRESH=8192 ",
		"4.1":                      "adapt han hcoll sm ucc ",
		"6.0 6.0":                  "acoll adapt han ucc xhc ",
	} {
		if got, err := names(strings.Fields(words)...); err != nil || got != want {
			t.Errorf("%s: %q, %v", words, got, err)
		}
	}
	for _, word := range []string{"3.1", "info.txt", "A=`b`", "A=$B", "A=/x"} {
		if got, err := names(word); err == nil {
			t.Errorf("%s: %q", word, got)
		}
	}
}

func FuzzReadComponents(f *testing.F) {
	f.Add(ompiInfo)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadComponents(strings.NewReader(text), "info")
		if err == nil && len(all) > len(components) {
			t.Fatalf("%d components", len(all))
		}
	})
}
