package prompt

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/credence-lab/credence/record"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var (
	strict         = Parser{Strict, Unit}
	strictPercent  = Parser{Strict, Percent}
	lenient        = Parser{Lenient, Unit}
	lenientPercent = Parser{Lenient, Percent}
)

// stated is a probability as a test writes it down: a number, or a reason.
type stated struct {
	P        float64
	Missing  record.Missing
	Fallback bool
}

func probabilityOf(p Parser, reply string, truncated bool) stated {
	out := p.Parse(reply, truncated)
	x, _ := out.Probability.Get()
	return stated{x, out.Probability.Missing(), out.Fallback}
}

func number(x float64) stated           { return stated{P: x} }
func missing(why record.Missing) stated { return stated{Missing: why} }
func byFallback(x float64) stated       { return stated{P: x, Fallback: true} }

const (
	noProbability = record.NoProbability
	malformed     = record.MalformedProbability
	outOfRange    = record.OutOfRange
)

func TestStatedProbability(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		parser Parser
		reply  string
		want   stated
	}{
		// End points are legal, and zero is not absence.
		{"hundred", strictPercent, "confidence: 100", number(1)},
		{"nought", strictPercent, "confidence: 0", number(0)},
		{"one of a hundred", strictPercent, "confidence: 1", number(.01)},
		{"bare percentage", strictPercent, "(100%)", byFallback(1)},
		{"seventy", strictPercent, "confidence: 70", number(.7)},

		// A label begins its line and stands at a word's edge.
		{"label within a word", strict, "drop: 0.05", missing(noProbability)},
		{"no label: step", strict, "step: 3", missing(noProbability)},
		{"no label: port", strict, "see http: 8080", missing(noProbability)},
		{"longer word", strict, "Improbability: 0.3", missing(noProbability)},
		{"leading dot", strict, "Guess: x\nProbability: .9", number(.9)},

		// Case, bold and a remark do not change the number; a malformed tail is not cut off.
		{"bold label", strict, "**Confidence:** 95%", number(.95)},
		{"bold label, colon outside", strict, "**CONFIDENCE**: 0.9 - two sources agree", number(.9)},
		{"percent with a decimal", strict, "confidence: 95.1%", number(.951)},
		{"one percent", strict, "Confidence: 1%", number(.01)},
		{"two dots", strict, "Confidence: 0.9.5", missing(malformed)},
		{"label in a sentence", strict, "I have low confidence: maybe 0.2 at first.\nConfidence: 0.8", number(.8)},

		// A percent sign decides the unit, and a number begins at its first digit.
		{"percentage in a sentence", strict, "All in all I put it at 72.5% likely.", byFallback(.725)},
		{"first digit", strict, "The result is 27.40%", byFallback(.274)},
		{"several percentages", strict, "Either 30% or 70%.", missing(noProbability)},
		{"percentage beside a label", strict, "Guess: 20% of the air", missing(noProbability)},

		// First principles.
		{"decimal comma", strict, "Probability: 0,85", number(.85)},
		{"decimal comma, percent", strict, "Probability: 72,5 %", number(.725)},
		{"comma of a sentence", strict, "Probability: 0.9, quite sure", number(.9)},
		{"comma of thousands", strictPercent, "Probability: 1,000", missing(malformed)},
		{"comma of thousands, in range", strict, "Probability: 72,500%", missing(malformed)},
		{"range", strict, "Probability: 70–80 %", missing(malformed)},
		{"range with hyphen", strict, "Probability: 0.7-0.8", missing(malformed)},
		{"range in words", strict, "Probability: 0.7 to 0.8", missing(malformed)},
		{"range without label", strict, "I would say 70-80 %", missing(noProbability)},
		{"around", strictPercent, "Probability: around 90", number(.9)},
		{"tilde", strictPercent, "Probability: ~90%", number(.9)},
		{"about, bold", strict, "Probability: about **0.9**", number(.9)},
		{"below", strict, "Probability: below 0.9", missing(malformed)},
		{"less than", strict, "Probability: <0.9", missing(malformed)},
		{"more than", strict, "Probability: >0.9", missing(malformed)},
		{"at least", strictPercent, "Probability: 90+", missing(malformed)},
		{"in angle brackets", strict, "Probability: <0.9>", number(.9)},
		{"exponent", strict, "Probability: 1e-1", number(.1)},
		{"broken exponent", strict, "Probability: 1e-", missing(malformed)},
		{"huge exponent", strict, "Probability: 1e9999", missing(outOfRange)},
		{"tiny exponent", strict, "Probability: 1e-9999", number(0)},
		{"fraction", strict, "Probability: 9/10", missing(malformed)},
		{"out of ten", strict, "Probability: 8 out of 10", missing(malformed)},
		{"two numbers", strict, "Probability: 0.9 or 0.8", missing(malformed)},
		{"negative zero", strict, "Probability: -0.0", number(0)},
		{"negative", strict, "Probability: -0.2", missing(outOfRange)},
		{"negative, true minus", strict, "Probability: −0.2", missing(outOfRange)},
		{"plus", strict, "Probability: +0.2", number(.2)},
		{"above one", strict, "Probability: 85", missing(outOfRange)},
		{"above a hundred percent", strict, "Probability: 150%", missing(outOfRange)},
		{"just above one", strict, "Probability: 1.0000001", missing(outOfRange)},
		{"word", strict, "Probability: high", missing(malformed)},
		{"not a number", strict, "Probability: NaN", missing(malformed)},
		{"infinite", strict, "Probability: Inf", missing(malformed)},
		{"empty label", strict, "Guess: x\nProbability:", missing(malformed)},
		{"other digits", strict, "Probability: 0.9٣", missing(malformed)},
		{"per mille", strict, "Probability: 9‰", missing(malformed)},
		{"percent in words", strict, "Probability: 85 per cent", number(.85)},
		{"wide signs", strict, "Probability\uff1a85\uff05", number(.85)},
		{"full stop", strict, "Probability: 0.9.", number(.9)},
		{"bold number", strict, "Probability: **0.9**", number(.9)},
		{"bold line", strict, "**Probability: 0.9**", number(.9)},
		{"underscores", strict, "__Probability:__ __0.9__", number(.9)},
		{"list mark", strict, "- Guess: x\n- Probability: 0.9", number(.9)},
		{"quoted", strict, "> Probability: \"0.9\"", number(.9)},
		{"first label decides", strict, "Guess: x\nProbability: 0.7\nGuess: y\nProbability: 0.2", number(.7)},
		{"line ends", strict, "Guess: x\r\nProbability: 0.9\r\n", number(.9)},
		{"next line", strict, "Probability:\n0.9", missing(malformed)},
		{"second label on a line", strict, "Guess: x, Probability: 0.9", missing(noProbability)},
		{"empty reply", strict, "", missing(noProbability)},

		// A fraction where 0 to 100 was asked for could be meant on either scale.
		{"fraction on 0-100", strictPercent, "Probability: 0.85", missing(AmbiguousScale)},
		{"1.0 on 0-100", strictPercent, "Probability: 1.0", missing(AmbiguousScale)},
		{"0.0 on 0-100", strictPercent, "Probability: 0.0", number(0)},
		{"fraction with percent on 0-100", strictPercent, "Probability: 0.85%", number(.0085)},
		{"decimals on 0-100", strictPercent, "Probability: 95.1", number(.951)},

		// The paper's rule.
		{"lenient: label", lenient, "Guess: Paris\nProbability: 0.85", number(.85)},
		{"lenient: label anywhere", lenient, "Guess: Paris, Probability: 0.85", number(.85)},
		{"lenient: next line", lenient, "Guess: Paris\nProbability:\n0.85", number(.85)},
		{"lenient: bold is no label", lenient, "Guess: Paris\nProbability: **0.85**", byFallback(.85)},
		{"lenient: no label", lenient, "Paris\n0.7", byFallback(.7)},
		{"lenient: first in range", lenient, "In 1998 I read 12 books; 0.6 or 0.7", byFallback(.6)},
		{"lenient: percent is no number in [0,1]", lenient, "Paris, 1% sure", missing(noProbability)},
		{"lenient: labelled percent", lenient, "Guess: Paris\nProbability: 85%", number(.85)},
		{"lenient: labelled, out of range", lenient, "Guess: Paris\nProbability: 85", missing(outOfRange)},
		{"lenient: labelled word", lenient, "Guess: Paris\nProbability: high", missing(malformed)},
		{"lenient: other label", lenient, "Guess: Paris\nConfidence: 0.8", byFallback(.8)},
		{"lenient: within a word", lenient, "version B0.5 and 0.9.5", missing(noProbability)},
		{"lenient: second label has it", lenient, "Probability: high\nProbability: 0.9", number(.9)},
		{"lenient: no fallback on 0-100", lenientPercent, "Paris\n0.7", missing(noProbability)},
		{"lenient: label on 0-100", lenientPercent, "Guess: Paris\nProbability: 85", number(.85)},
		{"lenient: percent on 0-100", lenientPercent, "Guess: Paris\nProbability: 85%", number(.85)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, probabilityOf(test.parser, test.reply, false)); diff != "" {
				t.Errorf("%s on %q (-want +got):\n%s", test.parser.ID(), test.reply, diff)
			}
		})
	}
}

func TestTokenLimitCutsTheNumber(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		parser Parser
		reply  string
		want   stated
	}{
		{strict, "Guess: x\nProbability: 0", missing(ProbabilityCutOff)}, // on the way to 0.85
		{strict, "Guess: x\nProbability: 0.", missing(ProbabilityCutOff)},
		{strict, "Guess: x\nProbability: 0.8", missing(ProbabilityCutOff)},
		{strict, "Guess: x\nProbability:", missing(ProbabilityCutOff)},
		{strict, "Guess: x\nProbability: 0.8\n", number(.8)}, // the line is complete
		{strict, "Guess: x\nProbability: 0.8\nBecause I", number(.8)},
		{strict, "Guess: x\nProbability: 80%", number(.8)},
		{strict, "Guess: a long sentence that goes on", missing(noProbability)},
		{lenient, "Guess: x\nProbability: 0.8", number(.8)}, // the paper's rule does not ask
	} {
		if diff := cmp.Diff(test.want, probabilityOf(test.parser, test.reply, true)); diff != "" {
			t.Errorf("%s on %q, truncated (-want +got):\n%s", test.parser.ID(), test.reply, diff)
		}
	}
}

func TestGuess(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		parser      Parser
		reply, want string
	}{
		{strict, "Guess: Paris\nProbability: 0.9", "Paris"},
		{strict, "guess : Paris ", "Paris"},
		{strict, "**Guess:** Paris", "Paris"},
		{strict, "**Guess**: **Paris**", "Paris"},
		{strict, "**Guess: Paris**", "Paris"},
		{strict, "Guess: **Paris**", "Paris"},
		{strict, "Guess:**Paris**", "Paris"},
		{strict, "Guess: 2 ** 3 ** 4", "2 ** 3 ** 4"},
		{strict, "Guess: __init__", "__init__"},
		{strict, "Guess: a: b", "a: b"},
		{strict, "Guess:\n\n  Paris\nProbability: 0.9", "Paris"},
		{strict, "Sure!\nGuess: Paris", "Paris"},
		{strict, "Answer: Paris", "Paris"},
		{strict, "Guess: Paris\nGuess: Rome", "Paris"},
		{strict, "Guess: 東京\nProbability: 0.9", "東京"},
		{strict, "Guess:\nProbability: 0.9\nParis", ""},
		{strict, "Guess: **", ""},
		{strict, "My guess: Paris", ""},
		{strict, "Paris", ""},
		{strict, "", ""},
		{lenient, "Guess: Paris\nProbability: 0.9", "Paris"},
		{lenient, "My guess: Paris", "Paris"},
		{lenient, "Guess: **Paris**", "**Paris**"},
		{lenient, "**Guess:** Paris", "** Paris"},
		{lenient, "Guess:\n\nParis", "Paris"},
		{lenient, "Guess:\nProbability: 0.9", ""},
		{lenient, "Probability: 0.9\nParis\nRome", "Paris"},
		{lenient, "  \n", ""},
	} {
		got := test.parser.Parse(test.reply, false)
		wantMissing := record.Present
		if test.want == "" {
			wantMissing = record.NoAnswer
		}
		if got.Guess != test.want || got.GuessMissing != wantMissing {
			t.Errorf("%s on %q: got %q (missing %q), want %q", test.parser.ID(), test.reply, got.Guess, got.GuessMissing, test.want)
		}
	}
}

func TestThinkingIsNotRead(t *testing.T) {
	t.Parallel()
	const reply = "Guess: B\nProbability: 0.9"
	want := strict.Parse(reply, false)
	for _, wrapped := range []string{
		"<think>Guess: A\nProbability: 0.1</think>" + reply,
		"<think></think>\n\n" + reply,
		"weighing A and C, Guess: A\n</think> " + reply,
		"<think>one</think><think>Guess: A</think>" + reply,
		"<think>outer <think>inner</think> still</think>" + reply,
		"[THINK]Guess: A[/THINK]" + reply,
		"<Thinking>\nGuess: A\n</Thinking>\n" + reply,
		"Guess: B\n<think>sure?</think>Probability: 0.9",
	} {
		for _, p := range []Parser{strict, lenient} {
			if diff := cmp.Diff(want, p.Parse(wrapped, false), cmp.AllowUnexported(record.Number{})); diff != "" {
				t.Errorf("%s on %q (-want +got):\n%s", p.ID(), wrapped, diff)
			}
		}
	}
	for _, unclosed := range []string{
		"<think> maybe B ...",
		"<think>Guess: A\nProbability: 0.9",
		"Guess: A\nProbability: 0.9\n<think>wait",
		"<think>a</think>Guess: A\nProbability: 0.9<think>",
	} {
		for _, p := range []Parser{strict, lenient} {
			got := p.Parse(unclosed, true)
			if got.Guess != "" || got.GuessMissing != record.UnclosedThinking || got.Probability.Missing() != record.UnclosedThinking {
				t.Errorf("%s on %q: got %+v, want unclosed thinking", p.ID(), unclosed, got)
			}
		}
	}
}

func TestParseAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		parser      Parser
		reply, want string
		missing     record.Missing
	}{
		{strict, "weighing A and C ... </think> B", "B", record.Present},
		{lenient, "weighing A and C ... </think> B", "B", record.Present},
		{strict, "<think> maybe B ... ", "", record.UnclosedThinking},
		{strict, "\n Paris\nIt is the capital.", "Paris", record.Present},
		{strict, "**Paris**", "Paris", record.Present},
		{lenient, "**Paris**", "**Paris**", record.Present},
		{strict, "Answer: Paris", "Paris", record.Present},
		{strict, "**Answer: Paris**", "Paris", record.Present},
		{strict, "Answer:\nParis", "Paris", record.Present},
		{strict, " \n\t", "", record.NoAnswer},
	} {
		got, why := test.parser.ParseAnswer(test.reply)
		if got != test.want || why != test.missing {
			t.Errorf("%s on %q: got %q, %q, want %q, %q", test.parser.ID(), test.reply, got, why, test.want, test.missing)
		}
	}
}

func TestNoStatedConfidenceIsNoReading(t *testing.T) {
	t.Parallel()
	// A default would give every model the same calibration.
	for _, p := range []Parser{strict, strictPercent, lenient, lenientPercent} {
		for _, reply := range []string{"Guess: Paris", "Guess: Rome\nI am quite sure.", "Guess: Oslo\n\n"} {
			if got := probabilityOf(p, reply, false); got != missing(noProbability) {
				t.Errorf("%s on %q: got %+v", p.ID(), reply, got)
			}
		}
	}
}

func TestNewParser(t *testing.T) {
	t.Parallel()
	for _, name := range ParserNames() {
		p, err := NewParser(name, Percent)
		if err != nil || p.ID() != name+".0-100" {
			t.Errorf("NewParser(%q) = %v, %v", name, p, err)
		}
	}
	if _, err := NewParser("strickt", Unit); err == nil || !strings.Contains(err.Error(), "lenient, strict") {
		t.Errorf("an unknown parser is not answered with the known ones: %v", err)
	}
}

// checkParsed holds what is true of every parse.
func checkParsed(t interface{ Fatalf(string, ...any) }, p Parser, reply string, got Parsed) {
	if (got.Guess == "") == (got.GuessMissing == record.Present) {
		t.Fatalf("%s on %q: guess %q with reason %q", p.ID(), reply, got.Guess, got.GuessMissing)
	}
	if got.Guess != strings.TrimSpace(got.Guess) || strings.ContainsAny(got.Guess, "\n\r") {
		t.Fatalf("%s on %q: guess %q is not one trimmed line", p.ID(), reply, got.Guess)
	}
	if utf8.ValidString(reply) && !utf8.ValidString(got.Guess) {
		t.Fatalf("%s on %q: guess %q cuts a character", p.ID(), reply, got.Guess)
	}
	x, ok := got.Probability.Get()
	switch {
	case ok && !(x >= 0 && x <= 1 && !math.Signbit(x)):
		t.Fatalf("%s on %q: probability %v", p.ID(), reply, x)
	case !ok && got.Probability.Missing() == record.Present:
		t.Fatalf("%s on %q: missing without a reason", p.ID(), reply)
	case !ok && got.Fallback:
		t.Fatalf("%s on %q: a fallback to nothing", p.ID(), reply)
	}
}

func FuzzParse(f *testing.F) {
	for _, reply := range []string{
		"Guess: Paris\nProbability: 0.85", "**Guess:** x\n**Probability:** 95.1 %", "<think>a</think>b",
		"[/THINK]Guess:\n\nx\u2028Probability: ~1e-1", "Probability: <0.9>", "\xff\xfeProbability: \xff.9", "__0.9__%", "1,000‰ −0",
	} {
		f.Add(reply, false)
	}
	f.Fuzz(func(t *testing.T, reply string, truncated bool) {
		for _, p := range []Parser{strict, strictPercent, lenient, lenientPercent} {
			checkParsed(t, p, reply, p.Parse(reply, truncated))
			if answer, why := p.ParseAnswer(reply); (answer == "") == (why == record.Present) {
				t.Fatalf("%s on %q: answer %q with reason %q", p.ID(), reply, answer, why)
			}
		}
	})
}

// Replies made of the pieces that real ones are made of reach further than random bytes.
func TestParseProperties(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"Guess:", "Probability:", "Confidence:", "Answer:", "**", "*", "_", "\n", " ", "0", ".", ",", "9", "5",
		"%", "-", "−", "–", "e", "+", "<", ">", "<think>", "</think>", "[THINK]", "about", "x", "東", "\u0301", "(", ")", "1", "100",
	})
	reply := rapid.Map(rapid.SliceOf(piece), func(parts []string) string { return strings.Join(parts, "") })
	rapid.Check(t, func(t *rapid.T) {
		text, truncated := reply.Draw(t, "reply"), rapid.Bool().Draw(t, "truncated")
		for _, p := range []Parser{strict, strictPercent, lenient, lenientPercent} {
			checkParsed(t, p, text, p.Parse(text, truncated))
		}
	})
}

func TestEveryDecimalIsReadExactly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		// Of x percent the float64 nearest to x/100 is wanted, which dividing by 100 does not always give.
		thousandths := rapid.IntRange(0, 1000).Draw(t, "thousandths")
		want := float64(thousandths) / 1000
		percent := strings.TrimSuffix(formatTenths(thousandths), ".0")
		for _, reply := range []string{
			"Guess: x\nProbability: " + percent + "%",
			"Guess: x\nProbability: " + strings.Replace(percent, ".", ",", 1) + " %",
		} {
			for _, p := range []Parser{strict, strictPercent, lenient, lenientPercent} {
				if got, ok := p.Parse(reply, false).Probability.Get(); !ok || got != want {
					t.Fatalf("%s on %q: got %v, %v, want %v", p.ID(), reply, got, ok, want)
				}
			}
		}
	})
}

func formatTenths(n int) string {
	digits := string(rune('0' + n%10))
	whole := ""
	for n /= 10; n > 0; n /= 10 {
		whole = string(rune('0'+n%10)) + whole
	}
	if whole == "" {
		whole = "0"
	}
	return whole + "." + digits
}
