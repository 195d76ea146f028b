package prompt

import (
	"testing"

	"github.com/credence-lab/credence/record"
)

// TestCasesLetter holds multiple-choice replies on which published tools went wrong, by the number under which the
// project keeps them.
func TestCasesLetter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		id, reply string
		options   int
		want      string
		missing   record.Missing
	}{
		// M01: a letter ends at a word's edge, and the last cue decides.
		{"M01", "Antwort:\n\nAntwort: C", 4, "C", ""},
		{"M01", "Antwort: Antwort: C", 4, "C", ""},

		// M02: the cue first; a letter alone only where the reply is one.
		{"M02", "The answer is C because a lorry stops.", 4, "C", ""},
		{"M02", "I choose D, a sound option.", 4, "D", ""},
		{"M02", "d", 4, "D", ""},
		{"M02", "b. 4", 4, "B", ""},

		// M03: other options and pronouns are not the answer.
		{"M03", "The answer is D. Option C only looks right.", 4, "D", ""},
		{"M03", "The answer is F since I integrated twice.", 10, "F", ""},

		// M05: Markdown and LaTeX are presentation.
		{"M05", "ANSWER: **B**", 4, "B", ""},
		{"M05", "ANSWER: $B$", 4, "B", ""},
		{"M05", "ANSWER: (B)", 4, "B", ""},
		{"M05", "ANSWER: B.", 4, "B", ""},

		// M06: an answer line outranks letters in a formula.
		{"M06", "So \\boxed{\\langle T\\rangle \\gg \\Delta B}\n**Answer: D**", 4, "D", ""},

		// T01, T02: a guess in the trace is no answer; the template may have opened the tag.
		{"T01", "<think> maybe B ... ", 4, "", record.UnclosedThinking},
		{"T02", "weighing A and C ... </think> B", 4, "B", ""},
	} {
		if got, why := ParseLetter(test.reply, test.options); got != test.want || why != test.missing {
			t.Errorf("%s, %q: got %q (%s), want %q (%s)", test.id, test.reply, got, why, test.want, test.missing)
		}
	}
}

// TestCasesThinking: the same two for the other parsers.
func TestCasesThinking(t *testing.T) {
	t.Parallel()
	for _, p := range []Parser{strict, lenient} {
		if got, why := p.ParseAnswer("<think> maybe B ... "); got != "" || why != record.UnclosedThinking {
			t.Errorf("T01, %s: %q (%s)", p.ID(), got, why)
		}
		if got, why := p.ParseAnswer("weighing A and C ... </think> B"); got != "B" || why != record.Present {
			t.Errorf("T02, %s: %q (%s)", p.ID(), got, why)
		}
	}
	if v := ParseVerdict("<think> so it is True ... "); v.Missing != record.UnclosedThinking {
		t.Errorf("T01: %+v", v)
	}
	if v := ParseVerdict("it could be False ... </think> True"); v.Verdict != record.Correct {
		t.Errorf("T02: %+v", v)
	}
}

// TestCasesConfidence holds stated confidences on which published tools went wrong, under the strict rules.
func TestCasesConfidence(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		id     string
		parser Parser
		reply  string
		want   stated
	}{
		{"C01", strictPercent, "confidence: 100", number(1)},
		{"C01", strictPercent, "confidence: 0", number(0)},
		{"C01", strictPercent, "confidence: 1", number(.01)},
		{"C01", strictPercent, "(100%)", byFallback(1)},
		{"C01", strictPercent, "confidence: 70", number(.7)},
		{"C02", strict, "The pressure may drop: 0.05 at each step: 3, see http: 8080", missing(noProbability)},
		{"C02", strict, "It is Paris.\nProbability: .9", number(.9)},
		{"C03", strict, "**Confidence:** 95%", number(.95)},
		{"C03", strict, "**CONFIDENCE**: 0.9 - two sources agree", number(.9)},
		{"C03", strict, "confidence: 95.1%", number(.951)},
		{"C03", strict, "Confidence: 1%", number(.01)},
		{"C03", strict, "Confidence: 0.9.5", missing(malformed)},
		{"C03", strict, "At first I had low confidence: maybe 0.2, but then\nConfidence: 0.8", number(.8)},
		{"C05", strict, "All in all I put it at 72.5% likely.", byFallback(.725)},
		{"C07", strict, "It is Paris.", missing(noProbability)}, // and no default
		{"C08", strict, "The result is 27.40%", byFallback(.274)},
	} {
		if got := probabilityOf(test.parser, test.reply, false); got != test.want {
			t.Errorf("%s, %q: got %+v, want %+v", test.id, test.reply, got, test.want)
		}
	}
}
