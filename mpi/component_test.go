package mpi

import (
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

func FuzzReadComponents(f *testing.F) {
	f.Add(ompiInfo)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadComponents(strings.NewReader(text), "info")
		if err == nil && len(all) > len(components) {
			t.Fatalf("%d components", len(all))
		}
	})
}
