package judge

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
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

// TestDocumentation: go doc of whatever gives a score or a verdict says its formula or rule, its range and direction
// and its source. So does the registry for every judge (TestRegistryIsWhole).
func TestDocumentation(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	judges := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || !judgesTexts(f) {
				continue
			}
			judges++
			doc := strings.Join(strings.Fields(f.Doc.Text()), " ")
			for what, words := range map[string][]string{
				"range":     {"Range [", "in [0,1]", "erdict", "reports whether"},
				"direction": {"higher", "erdict", "reports whether"},
				"source":    {"Source: ", ", section", ", appendix", "sentence_bleu", "et al."},
			} {
				if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(doc, w) }) {
					t.Errorf("%s: %s does not say its %s", name, f.Name, what)
				}
			}
		}
	}
	if judges < 9 {
		t.Errorf("%d judges found", judges)
	}
}

// judgesTexts reports whether a function gives a score, an overlap or a verdict of an answer.
func judgesTexts(f *ast.FuncDecl) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) == 0 || f.Name.Name == "ParseLabel" || f.Name.Name == "Verdict" {
		return false // a label that is read, a score that is cut
	}
	switch r := f.Type.Results.List[0].Type.(type) {
	case *ast.Ident:
		return r.Name == "Overlap" || r.Name == "bool" && (f.Name.Name == "Match" || f.Name.Name == "NearlyCorrect")
	case *ast.SelectorExpr:
		return r.Sel.Name == "Number" || r.Sel.Name == "Verdict"
	}
	return false
}
