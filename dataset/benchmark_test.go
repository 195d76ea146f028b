package dataset_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/record"
)

// The files below are this project's own, in the layouts of published ones, with their traps.

func benchmark(t *testing.T, layout, content string) dataset.Dataset {
	t.Helper()
	d, err := dataset.ReadBenchmarkFrom(strings.NewReader(content), "file", layout)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func items(t *testing.T, got []record.Item, want ...record.Item) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

func noted(t *testing.T, d dataset.Dataset, want string) {
	t.Helper()
	if !slices.Contains(d.Notes, want) {
		t.Errorf("notes %q lack %q", d.Notes, want)
	}
}

func TestTruthfulListsMayEndInASemicolonAndContradictThemselves(t *testing.T) {
	t.Parallel()
	d := benchmark(t, "truthfulqa", "Type,Category,Question,Best Answer,Correct Answers,Incorrect Answers,Source\n"+
		"A,Myths, Do cats fly? ,No,Cats do not fly; No ; They jump;,Yes; They jump;,x") // no final newline
	items(t, d.Items, record.Item{
		ID: "row-1", Field: "Myths", Question: "Do cats fly?",
		References: []string{"No", "Cats do not fly", "They jump"}, Incorrect: []string{"Yes"},
	})
	noted(t, d, "an answer listed both as correct and as incorrect is taken as correct (1 times)")
}

func TestTriviaQuestionsAreUnwrappedAndCutAliasesLeftOut(t *testing.T) {
	t.Parallel()
	// A raw U+0085 within a line ends no line; the first alias stays though it repeats the answer.
	d := benchmark(t, "triviaqa", `{"context": "Question: Who wrote`+"\u0085"+` it?\nAnswer:", "answer": "Ann", "aliases": ["Ann", "Anna", "Ann", "An\ufffd"]}`+"\n"+
		`{"context": "Question: Where?\nAnswer:", "answer": "Here", "aliases": []}`+"\n")
	items(t, d.Items,
		record.Item{ID: "row-1", Question: "Who wrote\u0085 it?", References: []string{"Ann", "Ann", "Anna"}},
		record.Item{ID: "row-2", Question: "Where?", References: []string{"Here"}})
	noted(t, d, "an alias cut within a character is left out (1 times)")
}

func TestMMLUWithAndWithoutHeader(t *testing.T) {
	t.Parallel()
	want := record.Item{ID: "row-1", Question: "Pick\none", Choices: []string{"a, b", "c", "d", "e"}, References: []string{"c"}}
	row := "\"Pick\none\",\"a, b\",c,d,e,"
	for name, content := range map[string]string{
		"header and number": "question,choice0,choice1,choice2,choice3,answer\n" + row + "1\n",
		"letter, no header": row + "B\n",
		"small letter, CR":  strings.ReplaceAll(row, "e,", "e,b\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items(t, benchmark(t, "mmlu", content).Items, want)
		})
	}
	// Without a header the lines of the file are still those that messages name.
	_, err := dataset.ReadBenchmarkFrom(strings.NewReader(row+"B\nq,a,b,c,d,E\n"), "file", "mmlu")
	if err == nil || !strings.HasPrefix(err.Error(), "file:3:") || !strings.Contains(err.Error(), `gold "E" names no choice`) {
		t.Errorf("wrong gold: %v", err)
	}
}

func TestCommonsenseChoicesThatRepeatAreKept(t *testing.T) {
	t.Parallel()
	line := func(key, c string) string {
		return `{"answerKey": "` + key + `", "id": "i", "question": {"question_concept": "k", "choices": [{"label": "A", "text": "x"}, {"label": "B", "text": "y"}, {"label": "C", "text": "` + c + `"}], "stem": "s?"}}` + "\n"
	}
	d := benchmark(t, "commonsenseqa", line("B", "y"))
	items(t, d.Items, record.Item{ID: "i", Field: "k", Question: "s?", Choices: []string{"x", "y", "y"}, References: []string{"y"}})
	noted(t, d, "the accepted choice occurs twice, so the item has no letter (1 times)")
	if _, err := dataset.ReadBenchmarkFrom(strings.NewReader(line("D", "z")), "file", "commonsenseqa"); err == nil || !strings.Contains(err.Error(), `gold "D"`) {
		t.Errorf("gold without a choice: %v", err)
	}
}

func TestSVAMPIsOneArrayWithFloats(t *testing.T) {
	t.Parallel()
	array := "[\r\n  {\"ID\": \"c-1\", \"Body\": \"Ann has 3 pens\", \"Question\": \"How many?\", \"Equation\": \"x\", \"Answer\": 51.0, \"Type\": \"Common-Divison\"},\r\n" +
		"  {\"ID\": \"c-2\", \"Body\": \"It rains.\", \"Question\": \"How much?\", \"Answer\": 0.5, \"Type\": \"Sum\"}\r\n]\r\n"
	d := benchmark(t, "svamp", array)
	items(t, d.Items,
		record.Item{ID: "c-1", Field: "Common-Division", Question: "Ann has 3 pens. How many?", References: []string{"51", "51.0"}},
		record.Item{ID: "c-2", Field: "Sum", Question: "It rains. How much?", References: []string{"0.5"}})
	for content, want := range map[string]string{
		"{}":                             "file:1:1: no JSON array",
		"[{\"ID\": \"a\"},\n{\"ID\": }]": "file:2:1: broken JSON",
		"[\n{\"ID\": \"a\", \"Body\": \"\", \"Question\": \"q\", \"Answer\": \"many\", \"Type\": \"t\"}\n]": "file:2:",
		"[{\"ID\": \"a\"}": "the array does not end",
	} {
		if _, err := dataset.ReadBenchmarkFrom(strings.NewReader(content), "file", "svamp"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}

func TestFinalAnswersOfGSM8KHaveNoCommas(t *testing.T) {
	t.Parallel()
	d := benchmark(t, "gsm8k", "{\"question\": \"How much?\", \"answer\": \"It is #### not 1,\\nbut 2.\\n#### 2,125\"}\r\n{\"question\": \"Less?\", \"answer\": \"#### -6\"}\r\n")
	items(t, d.Items,
		record.Item{ID: "row-1", Question: "How much?", References: []string{"2125", "2,125"}},
		record.Item{ID: "row-2", Question: "Less?", References: []string{"-6"}})
}

func TestRangesOfSimpleQAStayWithTheAnswer(t *testing.T) {
	t.Parallel()
	d := benchmark(t, "simpleqa-verified", "original_index,problem,answer,topic,answer_type,multi_step,requires_reasoning\n"+
		"5,How many?,150 (acceptable range: anything between 148 and 152),Sums,Number,True,False\n8,Who?,\" Ann\",Art,Person,True,False\n")
	items(t, d.Items,
		record.Item{ID: "5", Field: "Sums", Question: "How many?", References: []string{"150", "150 (acceptable range: anything between 148 and 152)"}},
		record.Item{ID: "8", Field: "Art", Question: "Who?", References: []string{"Ann"}})
}

func TestQuotesEscapedTwiceAreMended(t *testing.T) {
	t.Parallel()
	d := benchmark(t, "nq-open", `{"question": "what", "answer": ["It", "It"], "def_correct_predictions": ["that"], "def_incorrect_predictions": ["head\\\" or \\\"tail"]}`+"\n")
	items(t, d.Items, record.Item{ID: "row-1", Question: "what", References: []string{"It", "that"}, Incorrect: []string{`head" or "tail`}})
	noted(t, d, "quotes that were escaped twice are mended (1 times)")
}

func TestWhatIsWrongWithABenchmarkFileIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ layout, content, want string }{
		{"triviaqua", "", `no benchmark layout "triviaqua"`},
		{"triviaqa", "a,b\n1,2\n", "the layout triviaqa has it"},
		{"simpleqa-verified", "original_index,problem,answer,topic\n5,a,b,c\n5,d,e,f\n", `duplicate id "5"`},
		{"truthfulqa", "Category,Question,Best Answer,Correct Answers,Incorrect Answers\nx,q,,;,\n", "no answer"},
		{"truthfulqa", "Category,Question,Best Answer,Correct Answers,Incorrect Answers\nx,,a,,\n", "no question"},
		{"gsm8k", `{"question": "q", "answer": "no mark"}`, `no "####"`},
	} {
		_, err := dataset.ReadBenchmarkFrom(strings.NewReader(c.content), "file", c.layout)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.layout, c.content, err, c.want)
		}
	}
	_, err := dataset.ReadBenchmark(filepath.Join(t.TempDir(), "none.csv"), "mmlu")
	var e *table.Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "--data") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestCompressedBenchmarksAreRead(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte("question,choice0,choice1,choice2,choice3,answer\nq,a,b,c,d,2\n"))
	_ = w.Close()
	path := filepath.Join(t.TempDir(), "m.csv.gz")
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.ReadBenchmark(path, "mmlu")
	if err != nil || len(d.Items) != 1 || d.Items[0].References[0] != "c" || d.Name != "m" {
		t.Errorf("%+v, %v", d, err)
	}
}

// FuzzReadBenchmark: whatever the bytes and the layout, an error, or items that are complete and apart.
func FuzzReadBenchmark(f *testing.F) {
	for _, s := range []string{
		"question,choice0,choice1,choice2,choice3,answer\nq,a,b,c,d,2\n", "q,a,b,c,d,B\n", `[{"ID":"a","Body":"b","Question":"q","Answer":1.0,"Type":"t"}]`,
		`{"context":"Question: x\nAnswer:","answer":"a","aliases":["b"]}`, `{"question":"q","answer":"#### 1,000"}`, "[", "[{}]", "[\n\n{}\n,{}]",
	} {
		for i := range dataset.Benchmarks() {
			f.Add([]byte(s), uint(i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, layout uint) {
		names := dataset.Benchmarks()
		d, err := dataset.ReadBenchmarkFrom(bytes.NewReader(data), "f", names[layout%uint(len(names))])
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, it := range d.Items {
			if it.ID == "" || seen[it.ID] || it.Question == "" || len(it.References) == 0 || it.References[0] == "" {
				t.Fatalf("a broken item: %+v", it)
			}
			seen[it.ID] = true
		}
	})
}
