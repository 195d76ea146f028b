package judge

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of judges into its document")

const (
	document  = "../docs/judges.md"
	tableHead = "| id | what it says | score | needs | source |\n|---|---|---|---|---|\n"
)

// TestDocument compares the table in the document with the registry.
func TestDocument(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), tableHead)
	if !found {
		t.Fatalf("%s has no table that begins\n%s", document, tableHead)
	}
	old, after, _ := strings.Cut(rest, "\n## ")
	table := table()
	switch {
	case strings.TrimSpace(old) == strings.TrimSpace(table):
	case *update:
		if err := os.WriteFile(document, []byte(before+tableHead+table+"\n## "+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table in %s is not that of the registry; run the test with -update to write it", document)
	}
}

func table() string {
	var b strings.Builder
	for _, e := range Registry() {
		id := e.ID
		if e.Named {
			id += ":NAME"
		}
		score := "verdict"
		if e.Cut != NeverCut {
			score = fmt.Sprintf("%g to %g", e.Low, e.High)
		}
		if e.Cut == MustCut {
			id += "@T"
		}
		needs := make([]string, len(e.Needs))
		for i, n := range e.Needs {
			needs[i] = string(n)
		}
		cells := []string{"`" + id + "`", e.Title + ": " + e.Definition, score, strings.Join(needs, ", "), e.Source}
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", "\\|")
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return b.String()
}
