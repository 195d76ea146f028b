package report_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/report"
)

// made is a made-up setting; its fields are what a page shows of it.
type made struct {
	setting  record.Setting
	n        int
	contexts []string
	judges   []string
	// say gives the texts of item i: question, reply, answer, accepted.
	say func(i int) (question, reply, answer, accepted string)
	// missing items have no probability; oneClass makes all answers right; constant all scores equal.
	missing, oneClass, constant bool
	resamples                   int
}

func plainTexts(i int) (question, reply, answer, accepted string) {
	answer = fmt.Sprintf("Place number %d", i)
	return fmt.Sprintf("Which is the capital of country number %d?", i), "Guess: " + answer + "\nProbability: 0.8", answer, "The right place"
}

// of makes the records of the setting and compares them. Numbers depend on its name and on n alone.
func (m made) of(tb testing.TB) report.Setting {
	tb.Helper()
	if m.contexts == nil {
		m.contexts = []string{"bare", "answer-slot", "guess-slot", "answer-only"}
	}
	if m.judges == nil {
		m.judges = []string{"containment.unicode", "exact.unicode"}
	}
	if m.say == nil {
		m.say = plainTexts
	}
	seed := sha256.Sum256([]byte(m.setting.String()))
	rng := rand.New(rand.NewChaCha8(seed))
	var s report.Setting
	for i := range m.n {
		m.item(&s, rng, i)
	}
	for _, judge := range m.judges {
		choice := protocol.Choice{Contexts: m.contexts, Aggregation: "geometric-mean", Elicitation: "confidence", Judge: judge}
		aligned, err := protocol.Align(m.setting, s.Answers, s.Readings, s.Judgements, choice)
		if err != nil {
			tb.Fatal(err)
		}
		c, err := protocol.Compare(context.Background(), aligned, protocol.Options{Seed: 1, Resamples: m.resamples, Level: .95})
		if err != nil {
			tb.Fatal(err)
		}
		s.Comparisons = append(s.Comparisons, c)
		if s.Scores != nil {
			continue
		}
		if s.Scores, err = aligned.Scores(); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

func (m made) item(s *report.Setting, rng *rand.Rand, i int) {
	question, reply, answer, accepted := m.say(i)
	id := record.AnswerID{Setting: m.setting, Item: fmt.Sprintf("item-%d", i), Origin: record.Origin{Source: record.Generated, Prompt: "confidence"}}
	s.Items = append(s.Items, record.Item{ID: id.Item, Question: question, References: []string{accepted}, Field: "geography"})
	s.Answers = append(s.Answers, record.Answer{ID: id, Text: answer, Reply: reply})
	right := rng.Float64() < .6 || m.oneClass
	score := func() float64 {
		switch {
		case m.constant:
			return .5
		case right:
			return 1 - .8*rng.Float64()*rng.Float64()
		}
		return rng.Float64()
	}
	stated := record.Known(math.Round(20*score()) / 20)
	if m.missing {
		stated = record.Absent(record.NoProbability)
	}
	s.Readings = append(s.Readings, record.Reading{Answer: id, Signal: record.VerbalisedSignal, Protocol: record.Protocol{Elicitation: "confidence"}, Value: stated})
	for _, c := range m.contexts {
		p := score()
		s.Readings = append(s.Readings, record.Reading{Answer: id, Signal: record.TokenSignal, Protocol: record.Protocol{Context: c, Aggregation: "geometric-mean"}, Value: record.Known(p)})
		scoring := record.Scoring{Answer: id, Context: c}
		for k, word := range strings.SplitAfter(answer, " ") {
			scoring.Tokens = append(scoring.Tokens, record.Token{ID: int32(k), Piece: []byte(word), LogProb: math.Log(p)})
		}
		s.Scorings = append(s.Scorings, scoring)
	}
	for _, judge := range m.judges {
		verdict := record.Incorrect
		if right {
			verdict = record.Correct
		}
		s.Judgements = append(s.Judgements, record.Judgement{Answer: id, Judge: judge, Verdict: verdict})
	}
}

func section(tb testing.TB, m made) *report.Section {
	tb.Helper()
	s, err := report.NewSection(m.of(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func write(tb testing.TB, p report.Page) string {
	tb.Helper()
	var b bytes.Buffer
	if err := report.WriteHTML(&b, p); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func named(model, dataset string) record.Setting {
	return record.Setting{Model: model, Dataset: dataset}
}

// between returns what stands between two texts, the first time.
func between(page, from, to string) string {
	_, rest, _ := strings.Cut(page, from)
	inside, _, _ := strings.Cut(rest, to)
	return inside
}

func TestPolicyAllowsThePagesOwnStyleAndScriptOnly(t *testing.T) {
	t.Parallel()
	page := write(t, report.Page{Title: "x", Sections: []*report.Section{section(t, made{setting: named("m", "d"), n: 20})}})
	policy := html.UnescapeString(between(page, `http-equiv="Content-Security-Policy" content="`, `"`))
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	for _, tag := range []string{"style", "script"} {
		sum := sha256.Sum256([]byte(between(page, "<"+tag+">", "</"+tag+">")))
		if want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("policy %q lacks %q", policy, want)
		}
	}
	body := regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>`).ReplaceAllString(page, "")
	for _, m := range regexp.MustCompile(`(?:src|href|action|data|poster)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if !strings.HasPrefix(m[1], "#") && m[1] != "data:," {
			t.Errorf("the page points elsewhere: %s", m[0])
		}
	}
}

func TestEveryLinkOfThePageArrives(t *testing.T) {
	t.Parallel()
	half := measure.Of("auroc", .5, 20)
	matrix := report.MatrixTable(report.Matrix{Setting: "m · d", Items: 20, Samples: 5, Judges: []string{"exact"},
		Accuracy: []measure.Value{half}, Quantifiers: []string{"entropy"}, AUROC: [][]measure.Value{{half}}})
	page := write(t, report.Page{Title: "x", Card: &card.Card{}, Tables: []report.StudyTable{matrix}, Sections: []*report.Section{
		section(t, made{setting: named("m", "d"), n: 20}), section(t, made{setting: named("m", "e"), n: 3, missing: true}),
	}})
	if !strings.Contains(page, "entropy") {
		t.Error("the page lacks the table")
	}
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		ids[m[1]]++
		if ids[m[1]] > 1 {
			t.Errorf("two elements are called %q", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] == 0 {
			t.Errorf("nothing is called %q", m[1])
		}
	}
}

const evil = "</script></style><script>alert(1)</script><img src=x onerror=alert(1)>\"'`{{.}}\u202e\u2066\x00\x1b[2J"

// TestTextsStayTexts puts a hostile text into everything that comes from a model, a data set, a file or
// a user.
func TestTextsStayTexts(t *testing.T) {
	t.Parallel()
	m := made{
		setting: named(evil, evil+"d"), n: 30, contexts: []string{"bare" + evil, evil}, judges: []string{evil, "exact" + evil},
		say: func(int) (string, string, string, string) { return evil, evil + "\n\tmore", evil, evil },
	}
	s := m.of(t)
	s.Items[0].Field = evil
	s.Answers[1].Missing = record.Missing(evil)
	s.Answers[2].ID.Item = evil
	s.Scorings[0].Missing, s.Scorings[0].Tokens = record.Missing(evil), nil
	one, err := report.NewSection(s)
	if err != nil {
		t.Fatal(err)
	}
	c := &card.Card{
		Study: evil, Base: evil, Aggregations: []string{evil}, Tokenisation: evil, Generation: []string{evil}, Intervals: evil, Missing: []string{evil},
		Models: []card.Model{{Name: evil, Identity: llm.Identity{Weights: evil, Engine: evil}, Form: evil, Licence: evil}}, Datasets: []card.Dataset{{Name: evil, SHA256: evil, Notes: []string{evil}}},
		Imported: []card.Import{{Name: evil, File: evil, SHA256: evil, Notes: []string{evil}}},
		Prompts:  []card.Prompt{{Name: evil, Text: evil}}, Contexts: []card.Context{{Name: evil, What: evil}}, Parser: card.Rule{ID: evil, What: evil},
		Correctness: []card.Rule{{ID: evil, What: evil}}, Metrics: []card.Rule{{ID: evil, What: evil}}, Settings: []card.Setting{{Setting: evil, Judge: evil}},
	}
	page := write(t, report.Page{Title: evil, Card: c, Sections: []*report.Section{one, section(t, made{setting: named(evil, "e"), n: 4})}})
	for what, most := range map[string]int{"<script": 1, "</script": 1, "<style": 1, "</style": 1, "<img": 0} {
		if n := strings.Count(page, what); n > most {
			t.Errorf("%q is there %d times", what, n)
		}
	}
	if strings.ContainsAny(page, "\x00\x1b\u202e\u2066") {
		t.Error("a control character came through")
	}
	if strings.Contains(page, "ZgotmplZ") {
		t.Error("a text stands where the template cannot make it safe")
	}
	if !strings.Contains(page, "&lt;img src=x onerror=alert(1)&gt;") {
		t.Error("the text is not shown")
	}
}

// Whatever is undefined is said in words.
func TestPageHasNoNaN(t *testing.T) {
	t.Parallel()
	bad := regexp.MustCompile(`\bNaN\b|\bInf\b|%!`)
	for name, m := range map[string]made{
		"nothing":   {n: 0},
		"one":       {n: 1},
		"one class": {n: 12, oneClass: true},
		"constant":  {n: 12, constant: true},
		"missing":   {n: 12, missing: true},
		"bootstrap": {n: 3, resamples: 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m.setting = named("m", name)
			for _, sections := range [][]*report.Section{{section(t, m)}, {section(t, m), section(t, made{setting: named("m", "other"), n: 40, resamples: 100})}} {
				page := write(t, report.Page{Title: "x", Sections: sections})
				page = regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAllString(page, "")
				if at := bad.FindStringIndex(page); at != nil {
					t.Errorf("%s", page[max(0, at[0]-100):min(len(page), at[1]+40)])
				}
			}
		})
	}
	page := write(t, report.Page{Title: "no settings"})
	if !strings.Contains(page, "has no setting") {
		t.Error("a page of nothing does not say so")
	}
}

func TestSameStudySameBytes(t *testing.T) {
	t.Parallel()
	page := func() string {
		return write(t, report.Page{Title: "x", Sections: []*report.Section{section(t, made{setting: named("m", "d"), n: 50, resamples: 50})}})
	}
	if diff := cmp.Diff(page(), page()); diff != "" {
		t.Error(diff)
	}
}

// text is the page without its elements.
func text(page string) string {
	page = regexp.MustCompile(`(?s)<(style|script|svg).*?</(style|script|svg)>`).ReplaceAllString(page, " ")
	page = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")
	return strings.Join(strings.Fields(html.UnescapeString(page)), " ")
}

func TestTheSurestWrongAnswersComeFirst(t *testing.T) {
	t.Parallel()
	m := made{setting: named("m", "d"), n: 3}
	s := m.of(t)
	// Item 0 is wrong and unsure, item 1 wrong and sure of it, item 2 left out.
	for i := range s.Readings {
		r := &s.Readings[i]
		p := map[string]float64{"item-0": .55, "item-1": .99, "item-2": .5}[r.Answer.Item]
		r.Value = record.Known(p)
		if r.Answer.Item == "item-2" && r.Signal == record.VerbalisedSignal {
			r.Value = record.Absent(record.OutOfRange)
		}
	}
	for i := range s.Judgements {
		s.Judgements[i].Verdict = record.Incorrect
	}
	one, err := report.NewSection(s)
	if err != nil {
		t.Fatal(err)
	}
	shown := text(string(one.Body()))
	var at []int
	for _, what := range []string{"Wrong, and sure of it", "country number 1?", "country number 0?", "Left out", "country number 2?"} {
		at = append(at, strings.Index(shown, what))
	}
	for i := range at {
		if at[i] < 0 || i > 0 && at[i] < at[i-1] {
			t.Fatalf("places %v in %s", at, shown)
		}
	}
	if !strings.Contains(shown, "none (probability out of range)") {
		t.Error("the page does not say why an item is left out")
	}
}

func TestLongTextsAndLongListsAreCut(t *testing.T) {
	t.Parallel()
	m := made{setting: named("m", "d"), n: 300, say: func(i int) (string, string, string, string) {
		return fmt.Sprint(i, strings.Repeat(" 長い", 10_000)), strings.Repeat("x", 100_000), strings.Repeat("tok ", 5_000), strings.Repeat("y", 100_000)
	}}
	body := string(section(t, m).Body())
	if n := strings.Count(body, `class="item"`); n != 40 {
		t.Errorf("%d items are shown, want 40", n)
	}
	if len(body) > 1<<20 {
		t.Errorf("the section has %d bytes", len(body))
	}
	if !strings.Contains(body, "more characters)") {
		t.Error("what was cut is not told")
	}
}

func TestVerdictOverSettingsCountsThem(t *testing.T) {
	t.Parallel()
	var sections []*report.Section
	for i := range 3 {
		sections = append(sections, section(t, made{setting: named("m", fmt.Sprint(i)), n: 200, resamples: 200}))
	}
	sections = append(sections, section(t, made{setting: named("m", "none"), n: 5, missing: true}))
	short := between(text(write(t, report.Page{Title: "x", Sections: sections})), "In short", "Every setting")
	for _, want := range []string{"of 4 settings", "in 1 they cannot be compared", "In 1 setting nothing could be used", "among many settings, some differ by chance"} {
		if !strings.Contains(short, want) {
			t.Errorf("%q is missing in: %s", want, short)
		}
	}
}

func TestSectionNeedsItsScores(t *testing.T) {
	t.Parallel()
	if _, err := report.NewSection(report.Setting{}); err == nil {
		t.Error("a setting without comparison was drawn")
	}
	s := made{setting: named("m", "d"), n: 3}.of(t)
	s.Scores = s.Scores[:2]
	if _, err := report.NewSection(s); err == nil {
		t.Error("a setting with two of five scores was drawn")
	}
}

// The largest study that the page is made for: 26 models on 6 data sets of 1000 items.
const (
	manySettings = 156
	manyItems    = 1000
	mostBytes    = 10_000_000
)

// One of many settings may take its part of the page and no more.
func TestManySettingsOfAThousandItemsAreSmall(t *testing.T) {
	t.Parallel()
	const few = 13
	var sections []*report.Section
	for i := range few {
		sections = append(sections, section(t, made{setting: named("qwen2.5-coder-0.5b-instruct", fmt.Sprint(i)), n: manyItems, resamples: 10}))
	}
	all, none := len(write(t, report.Page{Title: "x", Sections: sections})), len(write(t, report.Page{Title: "x"}))
	if each, most := (all-none)/few, (mostBytes-none)/manySettings; each > most {
		t.Errorf("a setting takes %d bytes, want at most %d", each, most)
	}
}

// What is packed is what a smaller page shows in the open.
func TestPackedSettingsHoldTheSame(t *testing.T) {
	t.Parallel()
	var sections []*report.Section
	for i := range 13 {
		sections = append(sections, section(t, made{setting: named("m", fmt.Sprint(i)), n: 5}))
	}
	page := write(t, report.Page{Title: "x", Sections: sections})
	packed := html.UnescapeString(between(page, `<template class="packed">`, "</template>"))
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(sections[0].Body()), string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestALargeStudyFits(t *testing.T) {
	if os.Getenv("CREDENCE_STRESS") == "" {
		t.Skip("run by make stress")
	}
	page := largeStudy(t)
	if page.bytes > mostBytes {
		t.Errorf("the page has %d bytes, want at most %d", page.bytes, mostBytes)
	}
	if page.memory > 500<<20 {
		t.Errorf("%d MB were in use, want at most 500", page.memory>>20)
	}
}

type large struct {
	bytes  int
	memory uint64
}

// counter counts what is written.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// largeStudy renders the largest study, a setting at a time, as a run does.
func largeStudy(tb testing.TB) large {
	var sections []*report.Section
	var most uint64
	for i := range manySettings {
		sections = append(sections, section(tb, made{setting: named(fmt.Sprintf("model-%d", i/6), fmt.Sprintf("set-%d", i%6)), n: manyItems, resamples: 20}))
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapInuse)
	}
	var n counter
	if err := report.WriteHTML(&n, report.Page{Title: "large", Sections: sections}); err != nil {
		tb.Fatal(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return large{int(n), max(most, m.HeapInuse)}
}

func BenchmarkLargeStudy(b *testing.B) {
	for b.Loop() {
		page := largeStudy(b)
		b.ReportMetric(float64(page.bytes)/1e6, "MB")
		b.ReportMetric(float64(page.memory)/1e6, "MB-heap")
	}
}

func BenchmarkSection(b *testing.B) {
	s := made{setting: named("m", "d"), n: manyItems, resamples: 20}.of(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := report.NewSection(s); err != nil {
			b.Fatal(err)
		}
	}
}
