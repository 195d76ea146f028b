package protocol_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
)

var setting = record.Setting{Model: "m", Dataset: "d"}

var choice = protocol.Choice{
	Contexts:    []string{"bare", "guess-slot"},
	Aggregation: "geometric-mean",
	Elicitation: "confidence",
	Judge:       "exact.ascii",
}

// planted builds the records of one setting answer by answer.
type planted struct {
	answers    []record.Answer
	readings   []record.Reading
	judgements []record.Judgement
}

func (p *planted) add(correct bool, stated record.Number, tokens ...record.Number) *planted {
	id := record.AnswerID{Setting: setting, Item: fmt.Sprintf("q%04d", len(p.answers)), Origin: record.Origin{Source: record.Generated, Prompt: "confidence"}}
	p.answers = append(p.answers, record.Answer{ID: id, Text: "x"})
	p.readings = append(p.readings, record.Reading{Answer: id, Signal: record.VerbalisedSignal, Protocol: record.Protocol{Elicitation: "confidence"}, Value: stated})
	for i, x := range tokens {
		p.readings = append(p.readings, record.Reading{Answer: id, Signal: record.TokenSignal, Protocol: record.Protocol{Context: choice.Contexts[i], Aggregation: "geometric-mean"}, Value: x})
	}
	verdict := record.Incorrect
	if correct {
		verdict = record.Correct
	}
	p.judgements = append(p.judgements, record.Judgement{Answer: id, Judge: "exact.ascii", Verdict: verdict})
	return p
}

func (p *planted) compare(t *testing.T, o protocol.Options) *protocol.Comparison {
	t.Helper()
	a, err := protocol.Align(setting, p.answers, p.readings, p.judgements, choice)
	if err != nil {
		t.Fatal(err)
	}
	c, err := protocol.Compare(context.Background(), a, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func known(x float64) record.Number { return record.Known(x) }

func TestEveryAnswerIsUsedOrCountedOnce(t *testing.T) {
	t.Parallel()
	p := &planted{}
	p.add(true, known(.9), known(.5), known(.6))
	p.add(false, known(.8), known(.4), known(.7))
	p.add(true, record.Absent(record.NoProbability), known(.5), known(.6))
	p.add(true, known(.9), record.Absent(record.ContextOverflow), record.Absent(record.EmptyAnswer))
	p.add(true, known(.9), known(.5)) // never scored in the second context
	p.add(true, known(.9), known(.5), known(.6))
	p.judgements[5].Verdict, p.judgements[5].Missing = record.NotJudged, record.NoReference
	p.add(true, record.Absent(record.NoAnswer))
	p.answers[6].Text, p.answers[6].Missing = "", record.NoAnswer

	c := p.compare(t, protocol.Options{Level: .95})
	want := []measure.Excluded{
		{Reason: string(record.ContextOverflow), N: 1},
		{Reason: string(record.NoAnswer), N: 1},
		{Reason: string(record.NoProbability), N: 1},
		{Reason: string(record.NoReference), N: 1},
		{Reason: string(record.NotSupported), N: 1},
	}
	if diff := cmp.Diff(want, c.LeftOut); diff != "" || c.Asked != 7 || c.Used != 2 {
		t.Errorf("asked %d, used %d, left out (-want +got):\n%s", c.Asked, c.Used, diff)
	}
	if rate, _ := c.ParseRate.Get(); rate != 5./7 {
		t.Errorf("parse rate %v, want 5/7", rate)
	}
}

func TestFallbackIsCountedAndCanBeDropped(t *testing.T) {
	t.Parallel()
	p := &planted{}
	p.add(true, known(.9), known(.5), known(.6)).add(false, known(.8), known(.4), known(.7))
	p.readings[0].Fallback = true
	if rate, _ := p.compare(t, protocol.Options{Level: .95}).FallbackRate.Get(); rate != .5 {
		t.Errorf("fallback rate %v, want .5", rate)
	}
	strict := choice
	strict.DropFallback = true
	a, err := protocol.Align(setting, p.answers, p.readings, p.judgements, strict)
	if err != nil {
		t.Fatal(err)
	}
	c, err := protocol.Compare(context.Background(), a, protocol.Options{Level: .95})
	if err != nil || c.Used != 1 || c.LeftOut[0].Reason != string(protocol.FallbackDropped) {
		t.Errorf("used %d, left out %v, %v", c.Used, c.LeftOut, err)
	}
}

func TestBrokenAlignmentIsRefused(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(*planted){
		"reading of an answer that":                  func(p *planted) { p.readings[1].Answer.Item = "other" },
		"two token scores":                           func(p *planted) { p.readings[2].Protocol.Context = "bare" },
		"two stated probabilities":                   func(p *planted) { p.readings = append(p.readings, p.readings[0]) },
		"judged twice":                               func(p *planted) { p.judgements = append(p.judgements, p.judgements[0]) },
		"judgement by exact.ascii of an answer that": func(p *planted) { p.judgements[0].Answer.Origin.Sample = 1 },
		"is there twice":                             func(p *planted) { p.answers = append(p.answers, p.answers[0]) },
		"is not of the setting":                      func(p *planted) { p.answers[0].ID.Setting.Model = "another" },
	} {
		p := (&planted{}).add(true, known(.9), known(.5), known(.6))
		breakIt(p)
		_, err := protocol.Align(setting, p.answers, p.readings, p.judgements, choice)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestNothingLeftIsUndefinedNotZero(t *testing.T) {
	t.Parallel()
	p := (&planted{}).add(true, record.Absent(record.NoProbability), known(.5), known(.6))
	c := p.compare(t, protocol.Options{Level: .95, Resamples: 100})
	for _, v := range []measure.Value{c.Accuracy, c.Verbalised.Mean, c.Contexts[1].Gaps[0].Gap, *c.Contexts[1].Gaps[2].Shift} {
		if v.Defined() || v.Reason() != measure.NoItems || v.NLeftOut() != 1 {
			t.Errorf("%s: %+v", v.Method, v)
		}
	}
}
