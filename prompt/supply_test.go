package prompt

import (
	"errors"
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
	"github.com/google/go-cmp/cmp"
)

func TestCellsCrossFourPromptsWithTwoMarkers(t *testing.T) {
	t.Parallel()
	seen := map[Context]bool{}
	for i, c := range Cells() {
		marker := []string{AnswerMarker, GuessMarker}[i%2]
		if c.Opening != marker || c.Prompt != Cells()[i-i%2].Prompt {
			t.Errorf("cell %d is %+v", i, c)
		}
		if named, err := ContextNamed(c.Name); err != nil || named != c {
			t.Errorf("%s: %+v, %v", c.Name, named, err)
		}
		seen[Context{"", c.Prompt, c.Opening}] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d different cells, want 8", len(seen))
	}
}

func TestASuppliedAnswerOpensTheTurnAndStaysOnItsLine(t *testing.T) {
	t.Parallel()
	s := Default()
	opening := "Guess: the red planet\nProbability:"
	chat, err := s.Supply(Confidence, Chat, asked, " the red\r\n planet\u2028")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(llm.Chat(render(t, s, Confidence), opening), chat); diff != "" {
		t.Errorf("chat (-want +got):\n%s", diff)
	}
	plain, err := s.Supply(Confidence, Plain, asked, "the red planet")
	if err != nil {
		t.Fatal(err)
	}
	want := llm.Prompt{Text: render(t, s, Confidence) + "\n" + opening, NoBOS: true}
	if diff := cmp.Diff(want, plain); diff != "" {
		t.Errorf("plain (-want +got):\n%s", diff)
	}
	if _, err := s.Supply(Confidence, Chat, asked, " \n "); !errors.Is(err, llm.ErrEmptyAnswer) {
		t.Errorf("nothing supplied: %v", err)
	}
}

func TestParseSupplied(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules     Rules
		reply     string
		truncated bool
		want      record.Number
		fallback  bool
	}{
		{Lenient, " 0.85", false, record.Known(.85), false},
		{Strict, " 0.85", false, record.Known(.85), false},
		{Strict, "0.85\n\nGuess: Venus\nProbability: 0.1", true, record.Known(.85), false},
		{Strict, "\n0.9\n", true, record.Known(.9), false},
		// Twelve tokens may end within the number.
		{Strict, " 0.8", true, record.Absent(ProbabilityCutOff), false},
		{Strict, " between 0.7 and 0.9", false, record.Absent(record.MalformedProbability), false},
		{Lenient, " high, say 0.9", false, record.Known(.9), true},
		{Lenient, " high", false, record.Absent(record.MalformedProbability), false},
		{Strict, " 1.5", false, record.Absent(record.OutOfRange), false},
	} {
		got, fallback := Parser{c.rules, Unit}.ParseSupplied(c.reply, c.truncated)
		if got != c.want || fallback != c.fallback {
			t.Errorf("%s %q: got %+v (fallback %v), want %+v (%v)", c.rules, c.reply, got, fallback, c.want, c.fallback)
		}
	}
}

func TestWithOptions(t *testing.T) {
	t.Parallel()
	got, err := WithOptions("Which?", []string{"one", "two\nC. three", "four"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "Which?\nA. one\nB. two C. three\nC. four"; got != want {
		t.Errorf("got %q, want %q: an option stays on its line", got, want)
	}
	for _, n := range []int{0, 1, 27} {
		if _, err := WithOptions("Which?", strings.Split(strings.Repeat("x", n), "")); err == nil {
			t.Errorf("%d options are accepted", n)
		}
	}
}
