package quantify_test

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

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/quantify"
)

var update = flag.Bool("update", false, "write docs/quantifiers.md")

const table = "../docs/quantifiers.md"

// TestTableOfQuantifiers holds the documentation to the registry.
func TestTableOfQuantifiers(t *testing.T) {
	t.Parallel()
	got := quantifierTable()
	if *update {
		if err := os.WriteFile(table, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(table)
	if err != nil {
		t.Fatalf("%v; run the test with -update to write it", err)
	}
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s is not what the registry says; run the test with -update", table)
	}
}

func quantifierTable() string {
	var b strings.Builder
	b.WriteString(`# Quantifiers

Every quantifier of the package ` + "`quantify`" + `, as its registry declares it. The table is written by a test
(` + "`go test ./quantify -run Table -update`" + `) and checked by it.

l are log-probabilities of tokens, T is the number of tokens of a text, m the number of samples, y the answer, y_i
sample i; p_e, p_n, p_c are the probabilities that the premise entails the hypothesis, does neither, contradicts it.
A confidence is higher for surer answers, an uncertainty lower. Calls are those for one item of 10 samples that all
differ from each other and from the answer, on top of the answer itself; a set of quantifiers shares them. Where the
relevance of tokens is measured, there is one more for each token. The relation of an ordered pair counts as one; a
language model that is asked by forced choice takes two scoring calls for it ([entailment.md](entailment.md)).

An id with ` + "`.end`" + ` counts the end of turn as a token, one with ` + "`.question`" + ` puts the question before both texts of an
entailment. Ids that end in a library's name compute what that library does, where that departs from the definition.
The seven of "A Tale of Two Error Categories" (Ilia and Aziz 2026) are marked with ★.
`)
	paper := map[string]bool{}
	for _, q := range quantify.Default() {
		paper[q.ID] = true
	}
	for _, f := range quantify.Families() {
		b.WriteString("\n## " + f.Title + "\n\n" +
			"| id | formula | needs | calls | direction | range, units | source | elsewhere |\n" +
			"|---|---|---|---|---|---|---|---|\n")
		for _, q := range f.Quantifiers {
			mark := ""
			if paper[q.ID] {
				mark = " ★"
			}
			b.WriteString(row(q, mark))
		}
	}
	return b.String()
}

func row(q quantify.Quantifier, mark string) string {
	cells := []string{
		"`" + q.ID + "`" + mark, q.Formula, needs(q.Needs),
		fmt.Sprint(q.Needs.Calls(quantify.Size{Samples: 10, Distinct: 11}).Total()), q.Orientation.String(),
		q.Range.Text + ", " + q.Units, q.Source, q.Peer,
	}
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// needs says in words what a quantifier reads.
func needs(n quantify.Needs) string {
	var list []string
	add := func(has bool, words string) {
		if has {
			list = append(list, words)
		}
	}
	add(n.Answer != 0, "answer: "+n.Answer.String())
	add(n.Samples > 0, fmt.Sprintf("%d+ samples", n.Samples))
	add(n.Ideas, "samples as ideas")
	add(n.Sample != 0, "samples: "+n.Sample.String())
	add(n.Entailment != 0, "entailment "+n.Entailment.String())
	add(n.EntailmentWithQuestion != 0, "entailment after the question "+n.EntailmentWithQuestion.String())
	add(n.Similarity != 0, "similarity "+n.Similarity.String())
	add(n.Embeddings, "embeddings")
	for _, q := range n.Questions {
		add(true, "question "+string(q))
	}
	return strings.Join(list, "; ")
}

// TestRegistryIsComplete: every quantifier says all that it must, under an id of its own, by which it is found.
func TestRegistryIsComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, q := range quantify.All() {
		if seen[q.ID] {
			t.Errorf("%s is there twice", q.ID)
		}
		seen[q.ID] = true
		if q.Title == "" || q.Formula == "" || q.Units == "" || q.Source == "" || q.Range.Text == "" {
			t.Errorf("%s does not say everything: %+v", q.ID, q)
		}
		if q.Orientation != measure.Confidence && q.Orientation != measure.Uncertainty {
			t.Errorf("%s has no direction", q.ID)
		}
		if low, high := q.Range.Of(10); !(low < high) {
			t.Errorf("%s ranges from %v to %v", q.ID, low, high)
		}
		if found, err := quantify.ByID(q.ID); err != nil || found.ID != q.ID {
			t.Errorf("%s: %v", q.ID, err)
		}
	}
	for _, q := range quantify.Default() {
		if !seen[q.ID] {
			t.Errorf("%s is of the default set, and not of all", q.ID)
		}
	}
}

func TestUnknownIDsAreHelped(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"sematic-entropy":       `did you mean "semantic-entropy"?`,
		"p-true.ideas.swapping": "p-true.no-ideas.both-orders",
		"magic":                 "docs/quantifiers.md",
	} {
		if _, err := quantify.ByID(id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", id, err, want)
		}
	}
}

// TestDocumentation: go doc of each constructor says formula, direction, range, units, needs and source.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	constructors := 0
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
			if !ok || f.Recv != nil || !f.Name.IsExported() || !returnsQuantifier(f) {
				continue
			}
			constructors++
			doc := f.Doc.Text()
			for _, part := range []string{"range ", "Needs ", "Source: ", "call"} {
				if !strings.Contains(doc, part) {
					t.Errorf("%s: %s does not say %q", name, f.Name, part)
				}
			}
			if about, _, _ := strings.Cut(doc, "\n\n"); !strings.ContainsAny(about, "Σ=/−√‖×½") && !slices.ContainsFunc([]string{"share", "exp(", "number of", "the model stated"}, func(rule string) bool { return strings.Contains(about, rule) }) {
				t.Errorf("%s: %s does not say its formula", name, f.Name)
			}
			if !strings.Contains(doc, "\nConfidence, ") && !strings.Contains(doc, "\nUncertainty, ") {
				t.Errorf("%s: %s does not begin a paragraph with its direction", name, f.Name)
			}
			if !strings.Contains(doc, ", in ") && !strings.Contains(doc, "without units") && !strings.Contains(doc, ", a ") {
				t.Errorf("%s: %s does not say its units", name, f.Name)
			}
		}
	}
	if constructors < 35 {
		t.Errorf("%d constructors found", constructors)
	}
}

func returnsQuantifier(f *ast.FuncDecl) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) != 1 {
		return false
	}
	name, ok := f.Type.Results.List[0].Type.(*ast.Ident)
	return ok && name.Name == "Quantifier"
}
