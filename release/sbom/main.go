// Sbom writes what is in a Go binary, a CycloneDX 1.6 document, from what the linker put
// there: sbom BINARY.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"runtime/debug"
	"strings"
)

type document struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "sbom: name one binary that Go has built")
		os.Exit(2)
	}
	info, err := buildinfo.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "sbom: %v\n", err)
		os.Exit(2)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(of(info)); err != nil {
		fmt.Fprintf(os.Stderr, "sbom: %v\n", err)
		os.Exit(1)
	}
}

// of is the document of a binary.
func of(info *debug.BuildInfo) document {
	main := module("application", &info.Main)
	main.Name = path.Base(info.Path)
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "vcs.revision", "vcs.time", "-trimpath", "CGO_ENABLED":
			main.Properties = append(main.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	d := document{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{main}}
	std := debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
	d.Components = append(d.Components, module("library", &std))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.Components = append(d.Components, module("library", m))
	}
	return d
}

func module(kind string, m *debug.Module) component {
	c := component{Type: kind, Name: m.Path, Version: m.Version, PURL: fmt.Sprintf("pkg:golang/%s@%s", m.Path, strings.ReplaceAll(m.Version, "+", "%2B"))}
	if c.Ref = c.PURL; m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}
