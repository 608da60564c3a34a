package main

import (
	"encoding/json"
	"runtime/debug"
	"testing"

	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

func TestDocument(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8", Path: "example.org/m/cmd/program", Main: debug.Module{Path: "example.org/m", Version: "v1.2.3+dirty"},
		Deps: []*debug.Module{
			{Path: "golang.org/x/sys", Version: "v0.49.0", Sum: "h1:a="},
			{Path: "example.org/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/new", Version: "v2.0.0", Sum: "h1:b="}},
		},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "-ldflags", Value: "secret"}, {Key: "vcs.revision", Value: "abc"}},
	}
	text := string(must.Get(json.Marshal(of(info))))
	contains.All(t, text,
		`"bomFormat":"CycloneDX","specVersion":"1.6"`, `"name":"program","version":"v1.2.3+dirty","purl":"pkg:golang/example.org/m@v1.2.3%2Bdirty"`,
		`"purl":"pkg:golang/std@1.26.8"`, `"purl":"pkg:golang/golang.org/x/sys@v0.49.0","properties":[{"name":"go:sum","value":"h1:a="}]`,
		`"name":"example.org/new"`, `{"name":"go:build:vcs.revision","value":"abc"}`,
	)
	contains.None(t, text, "secret", "example.org/old")
}
