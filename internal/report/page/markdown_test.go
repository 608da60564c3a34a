package page

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/test/contains"
)

// A page in Markdown has a heading, tables, and links to existing figures, each once. It has no hosts and no
// paths, and texts of files are escaped.
func TestMarkdown(t *testing.T) {
	m := addSurveys(exact("secret-host", []int{1, 2, 4, 8}, 1000, 1600, 2500, 5000), 1)
	m.File.Provenance.Hostname, m.File.Provenance.CPUModel, m.File.Warnings = "secret-host", "An *invented* <CPU>", []string{"the clock | varies"}
	named := exact("x", nil)
	named.File.Provenance.Name = "blue one"
	figures := make(map[string]string)
	var text strings.Builder
	err := WriteMarkdown(&text, []compare.Machine{m, named}, func(name string, write func(io.Writer) error) (string, error) {
		var svg strings.Builder
		err := write(&svg)
		if _, twice := figures[name]; twice {
			t.Errorf("%s twice", name)
		}
		figures[name] = svg.String()
		return "p-" + name + ".svg", err
	})
	if err != nil {
		t.Fatal(err)
	}
	contains.All(t, text.String(), `# An \*invented\* \<CPU\>, `, "\n# blue one\n", "\n## What it carries\n\n| transfers |", "| ring, placement local, in cache | 1000", "\n## Warnings\n\n- the clock \\| varies\n", "](p-concurrency.svg)\n", "](p-access.svg)", "](p-map-2.svg)")
	for _, not := range []string{"secret-host", "/somewhere", "<CPU>", "\n\n\n\n"} {
		if strings.Contains(text.String(), not) {
			t.Errorf("%q in the page", not)
		}
	}
	links := regexp.MustCompile(`\]\(p-(.*?)\.svg\)`).FindAllStringSubmatch(text.String(), -1)
	for _, link := range links {
		if !strings.HasPrefix(figures[link[1]], "<svg") && !strings.HasPrefix(figures[link[1]], "<?xml") {
			t.Errorf("%s is %.40q", link[1], figures[link[1]])
		}
	}
	if len(links) != len(figures) || len(links) < 6 {
		t.Errorf("%d links to %d figures", len(links), len(figures))
	}
}
