package dataset_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/record"
)

func TestRead(t *testing.T) {
	t.Parallel()
	river := record.Item{ID: "r", Question: "Which river crosses Cairo?", References: []string{"Nile", "The Nile"}, Incorrect: []string{"Congo"}, Field: "geography"}
	prime := record.Item{ID: "p", Question: "The smallest prime, \"really\"?", References: []string{"2", "two"}}
	both := []record.Item{river, prime}
	tests := []struct {
		name, file, text string
		mapping          dataset.Mapping
		want             []record.Item
		notes            []string // a part of each
	}{
		{"usual names, JSONL", "q.jsonl", `{"id":"r","question":"Which river crosses Cairo?","answers":["Nile","The Nile"],"incorrect_answers":["Congo"],"category":"geography"}
{"id":"p","question":"The smallest prime, \"really\"?","answers":[2,"two","two",null,""]}
`, dataset.Mapping{}, both, []string{`question = "question", answer = "answers", id = "id", incorrect = "incorrect_answers", field = "category"`}},
		{"JSON lists in CSV", "q.csv", "\xef\xbb\xbfID,Question,Answer,incorrect,field\r\n" +
			`r,Which river crosses Cairo? ,"[""Nile"",""The Nile""]",Congo,geography` + "\r\n" +
			`p,"The smallest prime, ""really""?","[""2"", ""two""]",,` + "\r\n", dataset.Mapping{}, both, []string{"usual names"}},
		{"separator", "q.csv", "key,q,gold,bad,topic\nr,Which river crosses Cairo?,Nile; The Nile;,Congo;,geography\np,\"The smallest prime, \"\"really\"\"?\",2;two;2,,\n",
			dataset.Mapping{ID: "key", Question: "q", Answer: dataset.Columns{"gold"}, Incorrect: dataset.Columns{"bad"}, Field: "topic", Separator: ";"}, both, nil},
		{"answer and aliases", "q.jsonl", `{"id":"p","question":"The smallest prime, \"really\"?","answer":2,"aliases":["two"]}`, dataset.Mapping{}, []record.Item{prime}, []string{"aliases"}},
		{"several columns", "q.tsv", "id\tquestion\ta1\ta2\np\tThe smallest prime, \"really\"?\t2\ttwo\n",
			dataset.Mapping{Answer: dataset.Columns{"a1", "a2"}}, []record.Item{prime}, nil},
		{"no id, and a list that is an answer", "q.csv", "question,answer\na?,\"[1, 2]\"\nb?,y\n", dataset.Mapping{}, []record.Item{
			{ID: "row-1", Question: "a?", References: []string{"[1, 2]"}}, {ID: "row-2", Question: "b?", References: []string{"y"}},
		}, []string{"usual names", "ids are made from the row number"}},
		{"choices keep repeats", "q.jsonl", `{"id":"c","question":"?","answer":"x","choices":["x","y","x"]}`, dataset.Mapping{}, []record.Item{
			{ID: "c", Question: "?", References: []string{"x"}, Choices: []string{"x", "y", "x"}},
		}, nil},
		{"a lone surrogate and a contradiction are said", "q.jsonl", `{"id":"c","question":"\ud835?","answer":"x","incorrect":["x"]}`, dataset.Mapping{}, []record.Item{
			{ID: "c", Question: "\uFFFD?", References: []string{"x"}, Incorrect: []string{"x"}},
		}, []string{"usual names", "replaced by U+FFFD: q.jsonl:1:22", `both as accepted and as incorrect, the first is "c"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := dataset.ReadFrom(strings.NewReader(tt.text), tt.file, tt.mapping)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Items); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for i, part := range tt.notes {
				if i >= len(got.Notes) || !strings.Contains(got.Notes[i], part) {
					t.Errorf("note %d of %q has no %q", i, got.Notes, part)
				}
			}
			if got.Name != "q" || got.SHA256 != dataset.Hash(tt.want) || got.Source != tt.file {
				t.Errorf("name %q, source %q, hash %s", got.Name, got.Source, got.SHA256)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, text, want string
		mapping                dataset.Mapping
	}{
		{"wrong column", "q.csv", "id,question,answer\n1,a,b\n",
			`q.csv: no column "quesiton" (mapped as question); did you mean "question"? the columns are "id", "question", "answer"`, dataset.Mapping{Question: "quesiton"}},
		{"no answer column", "q.csv", "id,question,gold\n1,a,b\n",
			`q.csv: no column for the answer (looked for answer, answers, references); map it; the columns are "id", "question", "gold"`, dataset.Mapping{}},
		{"missing answer", "q.csv", "id,question,answer\n1,a,b\n2,c,\n", "q.csv:3:5: no answer; write at least one accepted answer, or remove the row", dataset.Mapping{}},
		{"missing answer in JSONL", "q.jsonl", "{\"question\":\"a\",\"answers\":[]}\n", "q.jsonl:1:27: no answer; write at least one accepted answer, or remove the row", dataset.Mapping{}},
		{"missing question", "q.jsonl", "{\"question\":\"a\",\"answer\":1}\n{\"answer\":1}\n", "q.jsonl:2: no question; write one, or remove the row", dataset.Mapping{}},
		{"duplicate id", "q.csv", "id,question,answer\n7,a,b\n8,a,b\n7,c,d\n", `q.csv:4:1: duplicate id "7", it is already at q.csv:2:1; give each item an id of its own`, dataset.Mapping{}},
		{"empty id", "q.csv", "id,question,answer\n ,a,b\n", "q.csv:2:1: no id; give each item an id of its own", dataset.Mapping{}},
		{"no rows", "q.csv", "id,question,answer\n", "q.csv: no rows; the file has a header and nothing else: is it the right one?", dataset.Mapping{}},
		{"NUL", "q.csv", "id,question,answer\n1,a\x00,b\n", "q.csv:2:4: a NUL byte; the file is damaged, or not UTF-8 text: write it again, or convert it (iconv -f UTF-16 -t UTF-8)", dataset.Mapping{}},
		{"broken record", "q.jsonl", "{\"question\":\"a\",\"answer\":1}\n{\"question\":\"a\n", "q.jsonl:2:13: a string is left open; mend or remove the record", dataset.Mapping{}},
		{"cut row", "q.csv", "id,question,answer\n1,a\n", "q.csv:2: 2 cells where the header has 3; the record looks cut", dataset.Mapping{}},
		{"object as question", "q.jsonl", `{"question":{"en":"a"},"answer":1}`, "q.jsonl:1:13: a list or an object where one text is wanted; map a column that holds one text", dataset.Mapping{}},
		{"Python list", "q.csv", "question,answer\na,\"['x', 'y']\"\n", `q.csv:2:3: a Python list where a text or a JSON list is wanted; write it as JSON: ["one", "two"]`, dataset.Mapping{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := dataset.ReadFrom(strings.NewReader(tt.text), tt.file, tt.mapping)
			if err == nil || err.Error() != tt.want {
				t.Errorf("\n got %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "my.questions.csv")
	if err := os.WriteFile(path, []byte("question,answer\r\na?,x\nb?,y\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := dataset.Read(path, dataset.Mapping{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "my.questions" || len(got.Items) != 2 || got.Source != path {
		t.Errorf("got %+v", got)
	}
	if last := got.Notes[len(got.Notes)-1]; !strings.Contains(last, "line ends are mixed") {
		t.Errorf("mixed line ends are not said: %q", got.Notes)
	}
}

// TestHash: the hash depends on every field and on where one text ends and the next begins.
func TestHash(t *testing.T) {
	t.Parallel()
	base := record.Item{ID: "1", Question: "q", References: []string{"a", "b"}, Incorrect: []string{"c"}, Choices: []string{"d"}, Field: "f"}
	variants := []record.Item{base}
	for _, change := range []func(*record.Item){
		func(i *record.Item) { i.ID = "2" },
		func(i *record.Item) { i.Question = "Q" },
		func(i *record.Item) { i.References = []string{"ab"} },
		func(i *record.Item) { i.References = []string{"b", "a"} },
		func(i *record.Item) { i.References, i.Incorrect = []string{"a"}, []string{"b", "c"} },
		func(i *record.Item) { i.Incorrect, i.Choices = nil, []string{"c", "d"} },
		func(i *record.Item) { i.Choices, i.Field = nil, "df" },
		func(i *record.Item) { i.Field = "" },
	} {
		changed := base
		change(&changed)
		variants = append(variants, changed)
	}
	seen := map[string]int{}
	for i, v := range variants {
		h := dataset.Hash([]record.Item{v})
		if j, twice := seen[h]; twice {
			t.Errorf("variants %d and %d have one hash", i, j)
		}
		seen[h] = i
	}
	// The encoding is documented; this is it, by sha256sum.
	const want = "f1896aefca216c3fde2637d604659fd5f75873b3bdc1020235d175d50f8ab9b9"
	if got := dataset.Hash([]record.Item{base}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMappingYAML(t *testing.T) {
	t.Parallel()
	var got dataset.Mapping
	if err := yaml.Unmarshal([]byte("question: q\nanswer: [a, b]\nincorrect: c\nseparator: ;\n"), &got); err != nil {
		t.Fatal(err)
	}
	want := dataset.Mapping{Question: "q", Answer: dataset.Columns{"a", "b"}, Incorrect: dataset.Columns{"c"}, Separator: ";"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
