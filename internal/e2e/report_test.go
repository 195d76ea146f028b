package e2e

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/study"
)

// hostile texts are what a model or a data set could say to a reader's browser.
var hostile = []string{
	`<script>document.title="taken"</script>`,
	`<img src=x onerror="document.title='taken'">`,
	`</pre></q></article></details><style>body{display:none}</style>`,
	`"><svg onload=document.title='taken'>`,
	"מה בירת צרפת? <b>פריז</b> \u202egnihtyreve\u202c",
	"ما هي عاصمة فرنسا؟ \u2066\u200f",
	"\x1b[2J\x07 {{.}} ${7*7} ` \\u003cscript\\u003e",
	"=HYPERLINK(\"http://example.invalid\")",
	"javascript:alert(1)//http://example.invalid/track.png",
	strings.Repeat("very long ", 400),
}

// planted is one item of a scripted study.
type planted struct {
	question, answer string
	correct          bool
	stated           float64
	reply            string // in place of an answer with its probability
	bare, guess      float64
}

// facts are items on which the stated score ranks well, the bare token score badly and the one in the
// guess slot better still, so that the verdict depends on the context.
func facts(n int) []planted {
	places := []string{"Norland", "Estmark", "Sudvale", "Westfell", "Midmoor"}
	var list []planted
	for i := range n {
		// Two low-discrepancy sequences in [0,1) in place of chance.
		u, v := math.Mod(float64(i)*.618034+.5, 1), math.Mod(float64(i)*.754878+.5, 1)
		right := v < .62
		p := planted{
			question: fmt.Sprintf("What is the capital of district %d of %s?", i, places[i%len(places)]),
			answer:   fmt.Sprintf("Port %s %d", places[(i+1)%len(places)], i),
			correct:  right,
			stated:   .5 + .1*math.Floor(4*u),
			bare:     .1 + .6*math.Mod(u+3*v, 1),
			guess:    .1 + .35*v*u + .2*u,
		}
		if right {
			p.stated, p.guess = .6+.1*math.Floor(3.99*u), .45+.5*(.7*v+.3*u)
		}
		list = append(list, p)
	}
	return list
}

func unusable(n int) []planted {
	var list []planted
	for i := range n {
		list = append(list, planted{question: fmt.Sprintf("What cannot be known, in part %d?", i), answer: "nothing", reply: "I would rather not say.", bare: .5, guess: .5})
	}
	return list
}

func hostileItems() []planted {
	var list []planted
	for i, text := range hostile {
		list = append(list, planted{question: fmt.Sprintf("%d %s", i, text), answer: strings.ReplaceAll(text[:min(len(text), 80)], "\n", " "), correct: i%2 == 0, stated: .9 - .1*float64(i%3), bare: .2 + .07*float64(i), guess: .9 - .05*float64(i)})
	}
	return list
}

type opener map[string][]planted

func (o opener) Open(_ context.Context, m study.Model) (study.Opened, error) {
	var items []llmtest.Item
	for _, set := range o {
		for _, p := range set {
			item := llmtest.Item{Question: p.question, Answer: p.answer, Reply: llmtest.StateConfidence(p.answer, math.Round(100*p.stated)/100)}
			if p.reply != "" {
				item.Reply = p.reply
			}
			item.Levels = []llmtest.Level{
				{Opening: "", LogProb: math.Log(p.bare)},
				{Opening: "Answer:", LogProb: math.Log(p.bare) * (.6 + .5*math.Mod(7*p.bare, 1))},
				{Opening: "Guess:", LogProb: math.Log(p.guess)},
			}
			items = append(items, item)
		}
	}
	return study.Opened{Engine: llmtest.NewQuiz(items, llmtest.Named(m.Weights)), Licence: "none"}, nil
}

// scriptedStudy runs a study of the given data sets on a scripted model and returns its report.
func scriptedStudy(t *testing.T, sets opener) string {
	t.Helper()
	folder := t.TempDir()
	var b strings.Builder
	b.WriteString("name: example\nmodels:\n- {name: scripted-1b, weights: w}\nanalysis: {resamples: 500}\ndatasets:\n")
	names := make([]string, 0, len(sets))
	for name := range sets {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		file := filepath.Join(folder, name+".jsonl")
		var lines strings.Builder
		for i, p := range sets[name] {
			accepted := p.answer
			if !p.correct {
				accepted = "quite another thing"
			}
			line, err := json.Marshal(map[string]string{"id": fmt.Sprint(i), "question": p.question, "answer": accepted})
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(line, '\n'))
		}
		if err := os.WriteFile(file, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "- {name: %s, file: %q}\n", name, file)
	}
	f, err := study.Parse("study.yaml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(folder, "run")
	if _, _, err := study.Run(t.Context(), f, study.Options{Folder: run, Open: sets, Version: "test"}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(run, "report.html")
}

func threeSettings() opener {
	return opener{"facts": facts(60), "hostile": hostileItems(), "unusable": unusable(8)}
}

var (
	desktop = view{width: 1440, height: 900}
	phone   = view{width: 390, height: 844, phone: true}
)

func TestReportOfThreeSettingsInABrowser(t *testing.T) {
	chromium(t)
	file := scriptedStudy(t, threeSettings())
	p := open(t, file, desktop)
	p.unfold(t)
	if title := eval[string](t, p, "document.title"); !strings.HasPrefix(title, "example") {
		t.Errorf("the title became %q: something in the page ran", title)
	}
	for _, script := range []string{
		`document.querySelectorAll("script").length - 1`,
		`document.querySelectorAll("img, iframe, object, embed, link:not([rel=icon]), [onerror], [onload], [style]").length`,
		`document.querySelectorAll("style").length - 1`,
	} {
		if n := eval[int](t, p, script); n != 0 {
			t.Errorf("%s is %d: a text became an element", script, n)
		}
	}
	if text := eval[string](t, p, "document.body.innerText"); strings.ContainsAny(text, "\u202e\u2066\x1b\x07") {
		t.Error("a control character or a mark that turns the direction of reading is in the page")
	}
	if n := eval[int](t, p, `[...document.querySelectorAll("dl.points > div dd")].filter(d => d.textContent.includes("none could be used")).length`); n != 1 {
		t.Errorf("%d settings are said to have nothing usable, want 1", n)
	}
	p.quiet(t)
}

// No page is wider than the screen: only tables scroll, within themselves.
func TestReportFitsAPhone(t *testing.T) {
	chromium(t)
	p := open(t, scriptedStudy(t, threeSettings()), phone)
	p.unfold(t)
	if wide := eval[int](t, p, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("the page is %d pixels wide on a screen of 390: %s", wide, eval[string](t, p,
			`[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > 391 && !e.closest(".scroll")).slice(0, 5).map(e => e.outerHTML.slice(0, 120)).join("\n")`))
	}
	p.quiet(t)
}

func TestTablesSort(t *testing.T) {
	chromium(t)
	p := open(t, scriptedStudy(t, threeSettings()), desktop)
	column := func(i int) []string {
		return eval[[]string](t, p, fmt.Sprintf(`[...document.querySelector("#settings ~ figure table").tBodies[0].rows].map(r => r.cells[%d].dataset.x?.split(";")[0] ?? r.cells[%d].textContent)`, i, i))
	}
	click := func(i int) {
		do(t, p, fmt.Sprintf(`document.querySelectorAll("#settings ~ figure thead th")[%d].querySelector("button").click()`, i))
	}
	const asked, accuracy = 2, 4
	click(asked)
	if diff := cmp.Diff([]string{"8", "10", "60"}, column(asked)); diff != "" {
		t.Errorf("ascending: %s", diff)
	}
	click(asked)
	if diff := cmp.Diff([]string{"60", "10", "8"}, column(asked)); diff != "" {
		t.Errorf("descending: %s", diff)
	}
	for range 2 { // what is undefined stands last, whichever way
		click(accuracy)
		if got := column(accuracy); got[2] != "" || got[0] == "" {
			t.Errorf("accuracy is in the order %q", got)
		}
	}
	p.quiet(t)
}

// A table is downloaded with every value, at full precision, and without a formula that a spreadsheet
// would run. Negative numbers stay numbers.
func TestTablesAreDownloadedAsCSV(t *testing.T) {
	chromium(t)
	formulas := []string{"=1+2", "@SUM(A1)", "-2+3+x", "-0.0231", `a "quoted", one`}
	var sections []*report.Section
	var want []float64
	for _, name := range formulas {
		c, scores := compared(t, record.Setting{Model: name, Dataset: "d"})
		s, err := report.NewSection(report.Setting{Comparisons: []*protocol.Comparison{c}, Scores: scores})
		if err != nil {
			t.Fatal(err)
		}
		sections = append(sections, s)
		x, _ := c.Contexts[0].Gaps[0].Gap.Get()
		want = append(want, x)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	w, err := os.Create(file)
	must(t, err)
	if err := report.WriteHTML(w, report.Page{Title: "=1+2", Sections: sections}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p := open(t, file, desktop)
	rows, err := csv.NewReader(strings.NewReader(p.download(t, `document.querySelector("#settings ~ figure figcaption button")`))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	gap := slices.Index(rows[0], "ECE gap")
	if gap < 0 || !slices.Contains(rows[0], "ECE gap upper") || !slices.Contains(rows[0], "ECE gap n") {
		t.Fatalf("columns %q", rows[0])
	}
	negative := false
	for i, name := range formulas {
		row := rows[1+i]
		if row[0] != table.Neutral(name) {
			t.Errorf("%q is downloaded as %q, want %q", name, row[0], table.Neutral(name))
		}
		got, err := strconv.ParseFloat(row[gap], 64)
		if err != nil || got != want[i] {
			t.Errorf("gap %v is downloaded as %q", want[i], row[gap])
		}
		negative = negative || got < 0
	}
	if !negative {
		t.Error("no gap is negative: the test shows nothing")
	}
	p.quiet(t)
}

// Of a page of very many settings each is unpacked when it is unfolded, and then all works as elsewhere.
func TestPackedSettingsUnfold(t *testing.T) {
	chromium(t)
	var sections []*report.Section
	for i := range 20 {
		c, scores := compared(t, record.Setting{Model: fmt.Sprintf("model-%d", i), Dataset: hostile[i%len(hostile)]})
		s, err := report.NewSection(report.Setting{Comparisons: []*protocol.Comparison{c}, Scores: scores})
		must(t, err)
		sections = append(sections, s)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	w, err := os.Create(file)
	must(t, err)
	must(t, report.WriteHTML(w, report.Page{Title: "many", Sections: sections}))
	must(t, w.Close())
	p := open(t, file, desktop)
	if n := eval[int](t, p, `document.querySelectorAll("details.setting svg.chart").length`); n != 0 {
		t.Errorf("%d charts are there before anything is unfolded", n)
	}
	eval[bool](t, p, `new Promise(done => {
		const setting = document.querySelectorAll("details.setting")[7];
		new MutationObserver((_, o) => { if (setting.querySelector("table.data button")) { o.disconnect(); done(true); } }).observe(setting, {childList: true, subtree: true});
		document.querySelectorAll("#settings ~ figure tbody a")[7].click();
	})`)
	if n := eval[int](t, p, `document.querySelectorAll("details.setting svg.chart").length`); n < 5 {
		t.Errorf("%d charts are there after a setting was unfolded by its link", n)
	}
	rows, err := csv.NewReader(strings.NewReader(p.download(t, `document.querySelectorAll("details.setting")[7].querySelector("figcaption button")`))).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Errorf("the unfolded table downloads as %v, %v", rows, err)
	}
	if title := eval[string](t, p, "document.title"); !strings.HasPrefix(title, "many") {
		t.Errorf("the title became %q: something in the page ran", title)
	}
	p.quiet(t)
}

// compared is a small comparison whose stated score is the better calibrated one.
func compared(t *testing.T, setting record.Setting) (*protocol.Comparison, []*metric.Prepared) {
	t.Helper()
	choice := protocol.Choice{Contexts: []string{"bare"}, Aggregation: "geometric-mean", Elicitation: "confidence", Judge: "exact.ascii"}
	var answers []record.Answer
	var readings []record.Reading
	var judgements []record.Judgement
	for i := range 12 {
		id := record.AnswerID{Setting: setting, Item: fmt.Sprint(i), Origin: record.Origin{Source: record.Generated, Prompt: "confidence"}}
		verdict, stated := record.Incorrect, .31
		if i%3 != 0 {
			verdict, stated = record.Correct, .87
		}
		answers = append(answers, record.Answer{ID: id, Text: "x"})
		readings = append(readings,
			record.Reading{Answer: id, Signal: record.VerbalisedSignal, Protocol: record.Protocol{Elicitation: choice.Elicitation}, Value: record.Known(stated)},
			record.Reading{Answer: id, Signal: record.TokenSignal, Protocol: record.Protocol{Context: "bare", Aggregation: choice.Aggregation}, Value: record.Known(1 / float64(2+i))})
		judgements = append(judgements, record.Judgement{Answer: id, Judge: choice.Judge, Verdict: verdict})
	}
	aligned, err := protocol.Align(setting, answers, readings, judgements, choice)
	if err != nil {
		t.Fatal(err)
	}
	c, err := protocol.Compare(t.Context(), aligned, protocol.Options{Seed: 1, Resamples: 100, Level: .95})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := aligned.Scores()
	if err != nil {
		t.Fatal(err)
	}
	return c, scores
}

// axe-core is fetched by "make deps" and looks for faults that keep people from reading the page.
func axe(t *testing.T) string {
	t.Helper()
	// The same places as in scripts/axe.sh.
	folder := os.Getenv("CREDENCE_TEST_CACHE")
	if folder == "" {
		cache := os.Getenv("XDG_CACHE_HOME")
		if cache == "" {
			cache = filepath.Join(os.Getenv("HOME"), ".cache")
		}
		folder = filepath.Join(cache, "credence-test")
	}
	files, err := filepath.Glob(filepath.Join(folder, "axe-core-*.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		missing(t, `axe-core is not on this machine; "make deps" fetches it`)
	}
	return string(read(t, files[len(files)-1]))
}

func TestReportIsReadableByAll(t *testing.T) {
	chromium(t)
	source := axe(t)
	file := scriptedStudy(t, threeSettings())
	for _, v := range []view{desktop, {width: 390, height: 844, dark: true, phone: true}} {
		p := open(t, file, v)
		p.unfold(t)
		do(t, p, source)
		found := eval[[]string](t, p, `axe.run().then(r => r.violations.filter(v => v.impact === "serious" || v.impact === "critical")
			.map(v => v.id + ": " + v.help + "\n" + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + "\n" + n.failureSummary).join("\n")))`)
		for _, fault := range found {
			t.Errorf("%d pixels wide, dark %t: %s", v.width, v.dark, fault)
		}
	}
}

// TestScreenshots writes what the README shows; "make screenshots" runs it. With CREDENCE_SCREENSHOTS_OF
// it takes the whole of another page instead, with everything unfolded, to be looked at.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("CREDENCE_SCREENSHOTS")
	if folder == "" {
		t.Skip("CREDENCE_SCREENSHOTS names no folder to write to")
	}
	other := os.Getenv("CREDENCE_SCREENSHOTS_OF")
	file := other
	if file == "" {
		file = scriptedStudy(t, opener{"facts": facts(120)})
	}
	for _, v := range []view{{width: 1440, height: 1100}, phone} {
		for _, dark := range []bool{false, true} {
			v.dark = dark
			p := open(t, file, v)
			name := fmt.Sprintf("%d-%s.png", v.width, v.scheme())
			if other != "" {
				p.unfold(t)
				p.shoot(t, filepath.Join(folder, "page-"+name), chromedp.FullScreenshot(100))
				continue
			}
			p.shoot(t, filepath.Join(folder, "report-"+name), chromedp.CaptureScreenshot())
			do(t, p, `document.querySelector(".plots").closest("details").querySelector("h4").scrollIntoView()`)
			p.shoot(t, filepath.Join(folder, "report-charts-"+name), chromedp.CaptureScreenshot())
			p.quiet(t)
		}
	}
}
