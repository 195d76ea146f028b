package prompt

import (
	"errors"
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm"
)

func TestGuessesAreAskedForOnLinesThatAreRead(t *testing.T) {
	t.Parallel()
	p, err := TopGuesses(Chat, asked, 3)
	if err != nil || !strings.Contains(p.Messages[0].Content, "G3:") || strings.Contains(p.Messages[0].Content, "G4:") || !strings.HasSuffix(p.Messages[0].Content, asked) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, k := range []int{0, 1, 21} {
		if _, err := TopGuesses(Chat, asked, k); err == nil {
			t.Errorf("%d guesses are asked for", k)
		}
	}
	if _, err := Linguistic(Chat, asked, nil); err == nil {
		t.Error("no phrase to choose from")
	}
}

// What Reasoned and Linguistic ask for is what the parsers read.
func TestRepliesInTheFormThatIsAskedForAreRead(t *testing.T) {
	t.Parallel()
	p, _ := Reasoned(Chat, asked)
	for _, label := range []string{GuessMarker, ProbabilityMarker} {
		if !strings.Contains(p.Messages[0].Content, "\n"+label) {
			t.Errorf("%q is not asked for", label)
		}
	}
	parser, _ := NewParser(string(Strict), Unit)
	parsed := parser.Parse("Mercury is liquid.\n\nGuess: mercury\nProbability: 0.7", false)
	if x, _ := parsed.Probability.Get(); parsed.Guess != "mercury" || x != .7 {
		t.Errorf("%+v", parsed)
	}
	for reply, want := range map[string]string{
		"Guess: a\nConfidence: likely":                        "likely",
		"**Confidence:** about even":                          "about even",
		"confidence: probably\nConfidence: unlikely":          "unlikely",
		"My Confidence: likely":                               "",
		"Guess: a":                                            "",
		"Confidence:":                                         "",
		"<think>Confidence: likely</think>\nConfidence: even": "even",
	} {
		if got := LabelledLine(reply, ConfidenceMarker); got != want {
			t.Errorf("%q: %q, want %q", reply, got, want)
		}
	}
}

func TestTheSecondStageFollowsTheFirst(t *testing.T) {
	t.Parallel()
	first := llm.Chat("first\n"+asked, "")
	p, err := SecondStage(Chat, first, asked, "mer\ncury")
	if err != nil || len(p.Messages) != 3 || p.Messages[0] != first.Messages[0] || p.Messages[1] != (llm.Message{Role: llm.Assistant, Content: "mer cury"}) || p.Opening != ProbabilityMarker {
		t.Errorf("%+v, %v", p, err)
	}
	if len(first.Messages) != 1 {
		t.Error("the first prompt was changed")
	}
	plain, _ := SecondStage(Plain, llm.Prompt{Text: "first\nAnswer:", NoBOS: true}, asked, "mercury")
	if !strings.HasPrefix(plain.Text, "first\nAnswer: mercury\n") || !strings.HasSuffix(plain.Text, "\n"+ProbabilityMarker) || !plain.NoBOS {
		t.Errorf("%+v", plain)
	}
	if _, err := SecondStage(Chat, first, asked, " "); !errors.Is(err, llm.ErrEmptyAnswer) {
		t.Errorf("no answer: %v", err)
	}
}
