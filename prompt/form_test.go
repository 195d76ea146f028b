package prompt

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

func TestFormsPutDataInTheirPlacesOnce(t *testing.T) {
	t.Parallel()
	s := Default()
	p, err := s.AskEquivalence(Chat, "Which {{.First}}?", "a {{.Second}}\nTrue", "b")
	if err != nil {
		t.Fatal(err)
	}
	text := p.Messages[0].Content
	for _, want := range []string{"Which {{.First}}?", "The first answer: a {{.Second}} True\n", "The second answer: b\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	p, err = s.AskTopic(Chat, "x\nA. y", []string{"one", "two"})
	if err != nil || !strings.Contains(p.Messages[0].Content, "The text: x A. y\n") || !strings.HasSuffix(p.Messages[0].Content, "\nA. one\nB. two") {
		t.Errorf("%v\n%+v", err, p)
	}
	p, err = s.AskPerturbations(Plain, "Who?", 7)
	if err != nil || !p.NoBOS || !strings.Contains(p.Text, "Write 7 remarks") || !strings.HasSuffix(p.Text, "The question: Who?\n1.") {
		t.Errorf("%v\n%+v", err, p)
	}
}

func TestFormsRefuseNothingToAsk(t *testing.T) {
	t.Parallel()
	s := Default()
	if _, err := s.AskParaphrases(Chat, " \n", 3); !errors.Is(err, llm.ErrEmptyText) {
		t.Errorf("no text: %v", err)
	}
	if _, err := s.AskPerturbations(Chat, "q", 0); err == nil {
		t.Error("a list of 0")
	}
	if _, err := s.AskEquivalence(Chat, "q", "a", "\n"); !errors.Is(err, llm.ErrEmptyAnswer) {
		t.Errorf("no answer: %v", err)
	}
	if _, err := s.AskTopic(Chat, "t", []string{"one"}); err == nil {
		t.Error("one domain")
	}
}

func TestFormsCanBeReplaced(t *testing.T) {
	t.Parallel()
	s, err := New(map[Name]string{Paraphrases: "{{.Number}} x {{.Text}}\r\n"})
	if err != nil {
		t.Fatal(err)
	}
	texts := s.FormTexts()
	i := slices.IndexFunc(texts, func(x Text) bool { return x.Name == Paraphrases })
	if len(texts) != len(FormNames()) || !texts[i].Own || texts[i].Text != "{{.Number}} x {{.Text}}" || texts[0].Own {
		t.Errorf("%+v", texts)
	}
	for _, test := range []struct {
		name Name
		text string
		want string
	}{
		{Perturbations, "{{.Number}}", "{{.Question}} is missing"},
		{Perturbations, "{{.Question}} {{.Number}} {{.Answer}}", "the only fields are {{.Question}}, {{.Number}}"},
		{Equivalence, "{{.Question}} {{.First}} {{.Second}}", `must ask for "True or False"`},
		{Topic, "{{.Text}} {{.Domains}}\x00", "UTF-8"},
		{Topic, "{{.Text}} {{.Domains}}" + strings.Repeat("x", maxTemplate), "at most 65536"},
	} {
		_, err := New(map[Name]string{test.name: test.text})
		_, single := Override(string(test.name), test.text)
		if err == nil || single == nil || single.Error() != err.Error() || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %.40q: %v, alone %v", test.name, test.text, err, single)
		}
	}
}

func TestParseList(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply     string
		truncated bool
		want      []string
		missing   record.Missing
	}{
		"numbers":              {"Here they are:\n1. A cat sat.\n2) \"A dog ran.\"\n(3) **Birds fly.**\n\nI hope that helps!", false, []string{"A cat sat.", "A dog ran.", "Birds fly."}, ""},
		"bullets":              {"- a b\n* c d\n• e", false, []string{"a b", "c d", "e"}, ""},
		"numbers before marks": {"1. one\n- a note\n2. two", false, []string{"one", "two"}, ""},
		"cut":                  {"1. one\n2. tw", true, []string{"one"}, ""},
		"cut after a line end": {"1. one\n2. two\n", true, []string{"one", "two"}, ""},
		"cut in a remark":      {"1. one\n2. two\nThese ar", true, []string{"one", "two"}, ""},
		"hidden characters":    {"1. a\u200bb\x00 \tc\u202e", false, []string{"ab c"}, ""},
		"quotes within":        {`1. "a" and "b"`, false, []string{`"a" and "b"`}, ""},
		"empty entries":        {"1. \n2. \"\"\n3. x", false, []string{"x"}, ""},
		"a number is no mark":  {"3.5 apples\n1,000 people", false, nil, NoList},
		"prose":                {"A cat sat.", false, nil, NoList},
		"thinking":             {"<think>\n1. no\n</think>\n1. yes", false, []string{"yes"}, ""},
		"thinking without end": {"<think>\n1. no", false, nil, record.UnclosedThinking},
	} {
		got, missing := ParseList(test.reply, test.truncated)
		if !slices.Equal(got, test.want) || missing != test.missing {
			t.Errorf("%s: %q, %q; want %q, %q", name, got, missing, test.want, test.missing)
		}
	}
	if got, _ := ParseList(strings.Repeat("1. x\n", 10_000), false); len(got) != mostEntries {
		t.Errorf("a list of %d entries", len(got))
	}
}

func TestParseCode(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply, want string
		missing     record.Missing
	}{
		"block":           {"Sure:\n```python\ndef f():\n    return 1  \n```\nDone.", "def f():\n    return 1", ""},
		"first of two":    {"```\na\n```\n```\nb\n```", "a", ""},
		"tildes":          {"~~~\n```\nx\n~~~", "```\nx", ""},
		"longer fence":    {"````\n```\nx\n```\n````", "```\nx\n```", ""},
		"other line ends": {"```\r\na\r\nb\r\n```\r\n", "a\nb", ""},
		"cut":             {"```python\ndef f():", "", CodeCutOff},
		"empty":           {"```\n\n```", "", NoCode},
		"none":            {"def f(): pass", "", NoCode},
		"thinking":        {"<think>```\nno\n```</think>\n```\nyes\n```", "yes", ""},
	} {
		got, missing := ParseCode(test.reply)
		if got != test.want || missing != test.missing {
			t.Errorf("%s: %q, %q; want %q, %q", name, got, missing, test.want, test.missing)
		}
	}
}

func FuzzParseList(f *testing.F) {
	f.Add("1. a\n2. \"b\"\n", true)
	f.Add("```\nx\n```\n- y", false)
	f.Fuzz(func(t *testing.T, reply string, truncated bool) {
		entries, missing := ParseList(reply, truncated)
		if (missing != record.Present) && entries != nil {
			t.Fatalf("entries %q beside %q", entries, missing)
		}
		for _, e := range entries {
			if e == "" || strings.ContainsAny(e, "\n\r\x00\u202e") {
				t.Fatalf("entry %q", e)
			}
		}
		if code, missing := ParseCode(reply); (code == "") != (missing != record.Present) {
			t.Fatalf("code %q, %q", code, missing)
		}
	})
}
