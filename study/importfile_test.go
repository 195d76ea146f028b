package study

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/record"
)

// FuzzImport reads files of judgements that somebody else wrote: a file is refused by name, or every row of it is
// kept, a repetition, or counted as beyond the limit, with a value or the reason why there is none.
func FuzzImport(f *testing.F) {
	const study = `name: s
models: [{name: m, weights: m.gguf}, {name: other, weights: o.gguf}]
datasets: [{name: facts, limit: 2}]
quantifiers: [default]
judges: ["imported:people", "imported:people@0.5"]
imported: {people: FILE}
`
	for _, text := range []string{
		"item,model,answer,score,correct\nq1,m,Paris,0.5,yes\nq2,m,Rome,,\nq1,m,Paris,0.5,yes\nq9,m,x,1,no\n",
		"item,model,answer,score,correct\nq1,m,Paris,0.5,yes\nq1,m,Paris,0.4,yes\n",
		"item,answer,score,correct\nq1,Paris,0.5,yes\n", "item,model,answer,score,correct\nq1,m,Paris,nan,maybe\n",
		"item,model,answer,score,correct\n'=q1,m,\"two\nlines\",1e-3,0\n", "item\tmodel\tanswer\tscore\tcorrect\nq1\tm\tx\t1\t1\n",
		`{"item":"q1","model":"m","answer":"Paris","score":1,"correct":true}` + "\n" + `{"item":"q2","model":"m","answer":["x"],"score":"2","correct":null}`,
		"", "item,item,answer\n", "\xff\xfe", "item,model,answer,score,correct\nq1,m,\"cut",
	} {
		f.Add(text, strings.HasPrefix(text, "{"))
	}
	f.Fuzz(func(t *testing.T, text string, jsonl bool) {
		path := filepath.Join(t.TempDir(), "people.csv")
		if jsonl {
			path = strings.TrimSuffix(path, "csv") + "jsonl"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := Parse("s.yaml", []byte(strings.Replace(study, "FILE", "'"+path+"'", 1)))
		if err != nil {
			t.Fatal(err)
		}
		file.Imported["people"] = path // as it is, whatever the study file lies beside
		r := &runner{file: file, data: []dataset.Dataset{{Name: "facts", Items: []record.Item{{ID: "q1"}, {ID: "q2"}}}}}
		if err := r.readImports(context.Background()); err != nil {
			if !strings.Contains(err.Error(), path) && !strings.Contains(err.Error(), "s.yaml") {
				t.Errorf("%q: the error names no place: %v", text, err)
			}
			return
		}
		read := r.imports["people"]
		kept := 0
		for key, rows := range read.of {
			if key.item != "q1" && key.item != "q2" {
				t.Errorf("%q: a row about item %q", text, key.item)
			}
			for _, row := range rows {
				kept++
				if x, ok := row.score.Get(); ok != (row.score.Missing() == "") || ok && !(x >= 0 && x <= 1) {
					t.Errorf("%q: score %v, %v, %q", text, x, ok, row.score.Missing())
				}
				if decided := row.verdict == record.Correct || row.verdict == record.Incorrect; decided != (row.noVerdict == "") {
					t.Errorf("%q: verdict %v, reason %q", text, row.verdict, row.noVerdict)
				}
			}
		}
		if kept+read.repeated+read.beyond != read.rows {
			t.Errorf("%q: %d rows read; %d kept, %d repeated, %d beyond", text, read.rows, kept, read.repeated, read.beyond)
		}
	})
}
