package dataset_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/record"
	"github.com/google/go-cmp/cmp"
)

func builtinSet(t *testing.T, name string) dataset.Dataset {
	t.Helper()
	d, err := dataset.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestBuiltinSizes(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"facts": 40, "facts-120": 120} {
		d := builtinSet(t, name)
		if d.Name != name || len(d.Items) != n || d.Source != "built in" || len(d.Notes) != 0 {
			t.Errorf("%s: %s, %d items, source %q, notes %q", name, d.Name, len(d.Items), d.Source, d.Notes)
		}
		if d.SHA256 != dataset.Hash(d.Items) {
			t.Errorf("%s: the hash is not that of its items", name)
		}
		fields := map[string]int{}
		for _, it := range d.Items {
			fields[it.Field]++
		}
		for field, got := range fields {
			if len(fields) != 10 || got != n/10 {
				t.Errorf("%s: %d of %d items in %s, and %d fields", name, got, n, field, len(fields))
			}
		}
	}
}

// The file says of each question how many of its eight sampled answers were right. Thirds follow from that.
func TestBuiltinThirdsAreAsStated(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("facts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "questions.md"))
	if err != nil {
		t.Fatal(err)
	}
	counted, small := map[string]int{}, map[string]int{}
	fields := map[string]map[string]bool{}
	n := 0
	for line := range strings.Lines(string(data)) {
		var q struct {
			ID, Field, Difficulty string
			Right, Samples        int
		}
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			t.Fatal(err)
		}
		want := "hard"
		switch {
		case q.Right >= 5:
			want = "easy"
		case q.Right >= 2:
			want = "middling"
		}
		if q.Samples != 8 || q.Right < 0 || q.Right > q.Samples || q.Difficulty != want {
			t.Errorf("%s: %d of %d right is %s, not %q", q.ID, q.Right, q.Samples, want, q.Difficulty)
		}
		if n++; n <= 40 {
			small[q.Difficulty]++
		}
		counted[q.Difficulty]++
		if fields[q.Field] == nil {
			fields[q.Field] = map[string]bool{}
		}
		fields[q.Field][q.Difficulty] = true
	}
	for _, third := range []string{"easy", "middling", "hard"} {
		if counted[third] < 37 || counted[third] > 43 {
			t.Errorf("%d of 120 questions are %s: not a third", counted[third], third)
		}
		if small[third] < 12 || small[third] > 15 {
			t.Errorf("%d of the first 40 questions are %s: not a third", small[third], third)
		}
		for field, has := range fields {
			if !has[third] {
				t.Errorf("%s has no %s question", field, third)
			}
		}
		row := regexp.MustCompile(`(?m)^\| ` + third + ` \|[^|]*\| (\d+) \| (\d+) \|$`).FindStringSubmatch(string(page))
		if row == nil || row[1] != strconv.Itoa(counted[third]) || row[2] != strconv.Itoa(small[third]) {
			t.Errorf("docs/questions.md says %q of the %s ones; there are %d and %d", row, third, counted[third], small[third])
		}
	}
}

func TestSmallBuiltinBeginsTheLarge(t *testing.T) {
	t.Parallel()
	small, large := builtinSet(t, "facts"), builtinSet(t, "facts-120")
	if diff := cmp.Diff(small.Items, large.Items[:len(small.Items)]); diff != "" {
		t.Errorf("a study of the small set does not extend to the large (-small +large):\n%s", diff)
	}
	for _, it := range large.Items[len(small.Items):] {
		if slices.ContainsFunc(small.Items, func(other record.Item) bool { return other.Question == it.Question }) {
			t.Errorf("%s: the question is asked twice", it.ID)
		}
	}
}

func TestBuiltinItemsAreWhole(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	places := make([]int, 4)
	for _, it := range builtinSet(t, "facts-120").Items {
		if ids[it.ID] {
			t.Errorf("id %s occurs twice", it.ID)
		}
		ids[it.ID] = true
		if !strings.HasSuffix(it.Question, "?") {
			t.Errorf("%s: no question: %q", it.ID, it.Question)
		}
		if len(it.Incorrect) != 2 || len(it.Choices) != 4 {
			t.Errorf("%s: %d wrong answers, %d choices", it.ID, len(it.Incorrect), len(it.Choices))
			continue
		}
		place := slices.Index(it.Choices, it.References[0])
		if place < 0 {
			t.Errorf("%s: the canonical answer is not among the choices %q", it.ID, it.Choices)
			continue
		}
		places[place]++
		for _, wrong := range it.Incorrect {
			if !slices.Contains(it.Choices, wrong) {
				t.Errorf("%s: the wrong answer %q is not among the choices", it.ID, wrong)
			}
		}
	}
	for place, n := range places {
		if n < 24 || n > 36 {
			t.Errorf("the right choice is at place %d in %d of 120 items: a guess of one letter would gain", place, n)
		}
	}
}

// By every string judge: what is right must be judged right, what is wrong must be judged wrong, and a
// question must not give its answer away.
func TestBuiltinItemsAreJudgedAsWritten(t *testing.T) {
	t.Parallel()
	verdict := func(j judge.Judge, it record.Item, text string) record.Verdict {
		return j.Judge(record.Answer{Text: text}, it.References).Verdict
	}
	for _, it := range builtinSet(t, "facts-120").Items {
		for _, j := range judge.All() {
			for _, text := range it.References {
				if got := verdict(j, it, text); got != record.Correct {
					t.Errorf("%s: reference %q is %s by %s", it.ID, text, got, j.ID())
				}
			}
			for _, text := range append(slices.Clone(it.Incorrect), it.Choices...) {
				if text == it.References[0] {
					continue
				}
				if got := verdict(j, it, text); got != record.Incorrect {
					t.Errorf("%s: wrong answer %q is %s by %s", it.ID, text, got, j.ID())
				}
			}
		}
		for i, text := range it.References {
			if utf8.RuneCountInString(text) < 3 {
				t.Errorf("%s: reference %q is so short that it is contained in much", it.ID, text)
			}
			if strings.Contains(strings.ToLower(it.Question), strings.ToLower(text)) {
				t.Errorf("%s: the question holds its answer %q", it.ID, text)
			}
			for _, other := range it.References[:i] {
				if judge.New(judge.Exact, judge.ASCII).Match(text, other) {
					t.Errorf("%s: %q and %q are one reference", it.ID, text, other)
				}
			}
		}
	}
}

// A small model often gives words of the question back. That must not count as an answer, though the
// containment rule looks for any common text: "Au" begins "aurum", and "river" is in "River Thames".
func TestWordsOfTheQuestionAreNoAnswer(t *testing.T) {
	t.Parallel()
	for _, it := range builtinSet(t, "facts-120").Items {
		text := strings.ToLower(it.Question[:1]) + it.Question[1:]
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
			if len(word) < 4 && unicode.IsLower(rune(word[0])) {
				continue // "the", "of"
			}
			for _, j := range judge.All() {
				if j.Judge(record.Answer{Text: word}, it.References).Verdict != record.Incorrect {
					t.Errorf("%s: %q of the question is correct by %s", it.ID, word, j.ID())
				}
			}
		}
		if judge.New(judge.Containment, judge.Unicode).Judge(record.Answer{Text: it.Question}, it.References).Verdict != record.Incorrect {
			t.Errorf("%s: the question is its own answer", it.ID)
		}
	}
}

func TestUnknownBuiltin(t *testing.T) {
	t.Parallel()
	if _, err := dataset.Builtin("fact"); err == nil || !strings.Contains(err.Error(), "facts, facts-120") {
		t.Errorf("an unknown set is not answered with the known ones: %v", err)
	}
}
