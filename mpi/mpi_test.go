package mpi

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

func TestLibraries(t *testing.T) {
	seen := make(map[string]bool)
	for _, l := range Libraries() {
		check.True(t, !seen[l.Name] && l.Title != "" && len(l.Ways) != 0 && l.Version != "" && l.own != nil, "%+v", l)
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
		check.Equal(t, must.Get(Named(strings.ToUpper(l.Name))), l, "%s", l.Name)
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
		check.Equal(t, l.Of(tt.bytes).Single, tt.single, "%s, %d bytes", tt.library, tt.bytes)
	}
}

func TestNamedRefuses(t *testing.T) {
	contains.Error(t, must.Err(Tunable("openmpi3")), "did you mean")
	for name, nearest := range map[string]string{"openmpi3": "openmpi4", "openmpi7": "openmpi6", "mpich5": "mpich5.1", "mpich": "mpich4", "OpenMPI5.0": "openmpi5", "mpich4ofi": "mpich4-ofi"} {
		contains.Error(t, must.Err(Named(name)), `did you mean "`+nearest+`"?`)
	}
}

const ompiInfo = `                MCA coll: sm (MCA v2.1.0, API v2.0.0, Component v4.1.4)
                MCA coll: tuned (MCA v2.1.0, API v2.0.0, Component v4.1.4)
                MCA coll: han (MCA v2.1.0, API v2.0.0, Component v4.1.4)
                MCA coll: sm (MCA v2.1.0, API v2.0.0, Component v4.1.4)
                MCA fbtl: posix (MCA v2.1.0, API v2.0.0, Component v4.1.4)
`

func TestReadComponents(t *testing.T) {
	all := must.Get(ReadComponents(strings.NewReader(ompiInfo), "info"))
	check.Equal(t, fmt.Sprint(all), "[{sm [OMPI_MCA_coll_sm_priority=100]} {han [OMPI_MCA_coll_han_priority=100]}]", "components")
	check.Error(t, must.Err(ReadComponents(strings.NewReader("nothing"), "info")), "a text without components is read")
}

func TestComponents(t *testing.T) {
	names := func(words ...string) (text string, err error) {
		all, err := Components(words, func(file string) ([]Component, error) { return nil, errors.New("reads " + file) })
		for _, c := range all {
			text += c.Name + " "
			again, there := ComponentNamed(c.Name)
			check.True(t, there && fmt.Sprint(again) == fmt.Sprint(c), "%s is %v", c.Name, again)
		}
		return text, err
	}
	for words, want := range map[string]string{
		"4.0 UCX_RNDV_THRESH=8192": "hcoll sm UCX_RNDV_THRESH=8192 ",
		"4.1":                      "adapt han hcoll sm ucc ",
		"6.0 6.0":                  "acoll adapt han ucc xhc ",
	} {
		check.Equal(t, must.Get(names(strings.Fields(words)...)), want, "%s", words)
	}
	for _, word := range []string{"3.1", "info.txt", "A=`b`", "A=$B", "A=/x"} {
		check.Error(t, must.Err(names(word)), "%s", word)
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
