package mpi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

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
