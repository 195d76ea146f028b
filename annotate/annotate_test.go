package annotate_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/annotate"
	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/record"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func tasks(n int) []annotate.Task {
	list := make([]annotate.Task, n)
	for i := range list {
		list[i] = annotate.Task{
			Answer: record.AnswerID{
				Setting: record.Setting{Model: "m", Dataset: "d"}, Item: fmt.Sprintf("q%03d", i),
				Origin: record.Origin{Source: record.Generated, Prompt: "confidence"},
			},
			Question: "?", References: []string{"yes"}, Text: "no",
		}
	}
	return list
}

func open(t *testing.T, path string) *annotate.Log {
	t.Helper()
	l, err := annotate.OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func add(t *testing.T, l *annotate.Log, who string, task annotate.Task, label annotate.Label, note string) {
	t.Helper()
	if err := l.Add(annotate.Entry{Annotator: who, Answer: task.Answer, Label: label, Note: note, At: noon}); err != nil {
		t.Fatal(err)
	}
}

func TestOverlapIsLabelledByAllAndTheRestByOne(t *testing.T) {
	t.Parallel()
	all := tasks(101)
	d := annotate.Design{Annotators: []string{"ann", "ben", "cem"}, Overlap: 11, Seed: 1}
	count := map[string]int{}
	for _, name := range d.Annotators {
		mine := d.Tasks(all, name)
		if len(mine) != 11+30 {
			t.Errorf("%s has %d tasks, want 11 shared and 30 of 90", name, len(mine))
		}
		for _, task := range mine {
			count[task.Answer.Item]++
		}
		turned := slices.Clone(all)
		slices.Reverse(turned)
		again := d.Tasks(turned, name)
		if !slices.EqualFunc(mine, again, func(a, b annotate.Task) bool { return a.Answer == b.Answer }) {
			t.Errorf("%s sees another order when the tasks come in another", name)
		}
	}
	shared := 0
	for _, n := range count {
		if n == 3 {
			shared++
		} else if n != 1 {
			t.Errorf("an answer is labelled %d times", n)
		}
	}
	if shared != 11 || len(count) != 101 {
		t.Errorf("%d shared of %d", shared, len(count))
	}
	first, second := d.Tasks(all, "ann"), d.Tasks(all, "ben")
	if first[0].Answer == second[0].Answer && first[1].Answer == second[1].Answer {
		t.Error("two people see one order")
	}
}

func TestAPersonAloneLabelsEverything(t *testing.T) {
	t.Parallel()
	if n := len(annotate.Design{Annotators: []string{"ann"}}.Tasks(tasks(7), "ann")); n != 7 {
		t.Errorf("%d of 7 tasks", n)
	}
}

func TestBrokenDesigns(t *testing.T) {
	t.Parallel()
	for _, d := range []annotate.Design{{}, {Annotators: []string{"a", "a"}}, {Annotators: []string{"a"}, Overlap: -1}, {Annotators: []string{" a"}}, {Annotators: []string{"a\n"}}} {
		if d.Check() == nil {
			t.Errorf("%+v is accepted", d)
		}
	}
}

func TestLabelsLastAndCorrectionsKeepTheirHistory(t *testing.T) {
	t.Parallel()
	path, all := filepath.Join(t.TempDir(), "labels.jsonl"), tasks(3)
	l := open(t, path)
	add(t, l, "ann", all[0], annotate.Correct, "")
	add(t, l, "ann", all[1], annotate.Incorrect, "says | nothing\nat all")
	add(t, l, "ann", all[0], annotate.Unsure, "on second thought")
	add(t, l, "ben", all[0], annotate.Incorrect, "")
	if err := l.Undo("ann", all[1].Answer, noon); err != nil {
		t.Fatal(err)
	}
	check := func(l *annotate.Log) {
		t.Helper()
		mine := l.Current("ann")
		if len(mine) != 1 || mine[all[0].Answer].Label != annotate.Unsure || mine[all[0].Answer].Note != "on second thought" {
			t.Errorf("ann's labels %v", mine)
		}
		if ben := l.Current("ben"); ben[all[0].Answer].Label != annotate.Incorrect {
			t.Errorf("ben's labels %v", ben)
		}
		all := func(record.AnswerID) bool { return true }
		if last, ok := l.Latest("ann", all); !ok || last.Label != annotate.Unsure {
			t.Errorf("latest %v %v", last, ok)
		}
		if last, ok := l.Latest("ann", func(record.AnswerID) bool { return false }); ok {
			t.Errorf("latest of none is %v", last)
		}
	}
	check(l)
	check(open(t, path))
	// The label before a correction stands again when the correction is undone.
	if err := l.Undo("ann", all[0].Answer, noon); err != nil {
		t.Fatal(err)
	}
	if got := l.Current("ann")[all[0].Answer].Label; got != annotate.Correct {
		t.Errorf("after undo %q", got)
	}
	if err := l.Undo("ann", all[1].Answer, noon); err == nil {
		t.Error("an undo of nothing is accepted")
	}
	if data, _ := os.ReadFile(path); bytes.Count(data, []byte("\n")) != 6 {
		t.Errorf("the file does not keep every line:\n%s", data)
	}
}

// TestATornLineIsCutOff at every byte of the last line: what was confirmed before stays, and the file can be
// written on.
func TestATornLineIsCutOff(t *testing.T) {
	t.Parallel()
	path, all := filepath.Join(t.TempDir(), "labels.jsonl"), tasks(2)
	l := open(t, path)
	add(t, l, "ann", all[0], annotate.Correct, "")
	whole, _ := os.ReadFile(path)
	add(t, l, "ann", all[1], annotate.Incorrect, "é")
	both, _ := os.ReadFile(path)
	for n := len(whole); n < len(both); n++ {
		torn := filepath.Join(t.TempDir(), "labels.jsonl")
		if err := os.WriteFile(torn, both[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		l := open(t, torn)
		if got := l.Current("ann"); len(got) != 1 || l.Torn != (n > len(whole)) {
			t.Fatalf("cut at %d: %d labels, torn %v", n, len(got), l.Torn)
		}
		add(t, l, "ann", all[1], annotate.Unsure, "")
		if got := open(t, torn).Current("ann"); len(got) != 2 {
			t.Fatalf("cut at %d: %d labels after one more", n, len(got))
		}
	}
}

func TestAFileThatIsNoLogIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"hello\n":                              ":1: no label",
		"{\"schema\":2}\n":                     ":1: schema 2",
		"{\"schema\":1,\"annotator\":\"a\"}\n": "without annotator or item",
		"\n{\"schema\":1,\"annotator\":\"a\",\"item\":\"q\",\"label\":\"maybe\"}\n": `:2: unknown label "maybe"`,
	} {
		path := filepath.Join(t.TempDir(), "labels.jsonl")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := annotate.OpenLog(path)
		var e *annotate.FileError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
		if data, _ := os.ReadFile(path); string(data) != content {
			t.Errorf("%q was changed to %q", content, data)
		}
	}
}

func TestATableHasThoseWhoseLabelsStand(t *testing.T) {
	t.Parallel()
	l, all := open(t, filepath.Join(t.TempDir(), "l")), tasks(3)
	add(t, l, "ann", all[1], annotate.Correct, "sure")
	add(t, l, "ben", all[0], annotate.Incorrect, "")
	add(t, l, "cem", all[2], annotate.Unsure, "")
	if err := l.Undo("cem", all[2].Answer, noon); err != nil {
		t.Fatal(err)
	}
	got := annotate.TableOf(l)
	want := annotate.Table{
		Annotators: []string{"ann", "ben"}, Answers: []record.AnswerID{all[0].Answer, all[1].Answer},
		Labels: [][]annotate.Label{{"", annotate.Incorrect}, {annotate.Correct, ""}}, Notes: [][]string{{"", ""}, {"sure", ""}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	task := annotate.Task{Question: "Who wrote it?", References: []string{"Tove Jansson"}, Text: "a Finn"}
	for _, c := range []struct {
		filter string
		entry  annotate.Entry
		want   bool
	}{
		{"", annotate.Entry{}, true}, {"open", annotate.Entry{Label: annotate.Correct}, false},
		{"all", annotate.Entry{}, true}, {" Labelled ", annotate.Entry{}, false}, {"labelled", annotate.Entry{Label: annotate.Unsure}, true},
		{"unsure", annotate.Entry{Label: annotate.Unsure}, true}, {"unsure", annotate.Entry{Label: annotate.Correct}, false}, {"correct", annotate.Entry{}, false},
		{"noted", annotate.Entry{Label: annotate.Correct}, false}, {"noted", annotate.Entry{Label: annotate.Correct, Note: "x"}, true},
		{"/JANSSON", annotate.Entry{}, true}, {"/finn", annotate.Entry{}, true}, {"/who", annotate.Entry{}, true}, {"/correct", annotate.Entry{Label: annotate.Correct}, false},
	} {
		f, err := annotate.ParseFilter(c.filter)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Shows(task, c.entry); got != c.want {
			t.Errorf("%q shows %+v: %v", c.filter, c.entry, got)
		}
		if again, err := annotate.ParseFilter(f.String()); err != nil || again != f {
			t.Errorf("%q is not read again from %q", f, f.String())
		}
	}
	for _, wrong := range []string{"jansson", "/", "wrong"} {
		if _, err := annotate.ParseFilter(wrong); err == nil || !strings.Contains(err.Error(), "/TEXT") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// TestTwoProcessesLoseNothing: two open logs of one file, as two people in two terminals have, write in turn and at once.
func TestTwoProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	path, all := filepath.Join(t.TempDir(), "labels.jsonl"), tasks(40)
	people := []string{"ann", "ben", "cem"}
	var group sync.WaitGroup
	for _, name := range people {
		l := open(t, path)
		group.Go(func() {
			for _, task := range all {
				if err := l.Add(annotate.Entry{Annotator: name, Answer: task.Answer, Label: annotate.Correct, At: noon}); err != nil {
					t.Error(err)
				}
			}
			if err := l.Undo(name, all[0].Answer, noon); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte("\n")); n != 3*41 {
		t.Errorf("%d lines of %d", n, 3*41)
	}
	l := open(t, path)
	for _, name := range people {
		if n := len(l.Current(name)); n != 39 {
			t.Errorf("%s has %d labels, want 39", name, n)
		}
	}
}

// TestAWriterSeesWhatOthersWrote: a label that another process took back in the meantime cannot be taken back twice, and a line
// that another process tore is cut off before the next one.
func TestAWriterSeesWhatOthersWrote(t *testing.T) {
	t.Parallel()
	path, all := filepath.Join(t.TempDir(), "labels.jsonl"), tasks(2)
	first := open(t, path)
	add(t, first, "ann", all[0], annotate.Correct, "")
	second := open(t, path)
	if err := second.Undo("ann", all[0].Answer, noon); err != nil {
		t.Fatal(err)
	}
	if err := first.Undo("ann", all[0].Answer, noon); err == nil {
		t.Error("a label was taken back twice")
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"schema":1,"annot`); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	add(t, first, "ann", all[1], annotate.Unsure, "")
	if got := open(t, path).Current("ann"); len(got) != 1 || got[all[1].Answer].Label != annotate.Unsure {
		t.Errorf("%v", got)
	}
}

// TestReadingChangesNothing: no file is made, none is mended, and nothing can be written.
func TestReadingChangesNothing(t *testing.T) {
	t.Parallel()
	folder, all := t.TempDir(), tasks(1)
	path := filepath.Join(folder, "labels.jsonl")
	none, err := annotate.ReadLog(path)
	if err != nil || len(none.Annotators()) != 0 || none.Close() != nil {
		t.Fatalf("%v, %v", none, err)
	}
	if files, _ := os.ReadDir(folder); len(files) != 0 {
		t.Errorf("reading left %v", files)
	}
	add(t, open(t, path), "ann", all[0], annotate.Correct, "")
	data, _ := os.ReadFile(path)
	torn := append(data, "{\"sch"...)
	if err := os.WriteFile(path, torn, 0o400); err != nil {
		t.Fatal(err)
	}
	l, err := annotate.ReadLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !l.Torn || len(l.Current("ann")) != 1 {
		t.Errorf("torn %v, labels %v", l.Torn, l.Current("ann"))
	}
	if err := l.Add(annotate.Entry{Annotator: "ann", Answer: all[0].Answer, Label: annotate.Correct, At: noon}); err == nil {
		t.Error("a log that was opened for reading was written")
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(after, torn) {
		t.Errorf("reading changed the file to %q", after)
	}
}

func TestEntriesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	path, all := filepath.Join(t.TempDir(), "labels.jsonl"), tasks(1)
	l := open(t, path)
	good := annotate.Entry{Annotator: "ann", Answer: all[0].Answer, Label: annotate.Correct, At: noon}
	for what, change := range map[string]func(*annotate.Entry){
		"unknown label":        func(e *annotate.Entry) { e.Label = "maybe" },
		"cannot name":          func(e *annotate.Entry) { e.Annotator = "" },
		"bytes is too long":    func(e *annotate.Entry) { e.Note = strings.Repeat("x", 1<<17) },
		"the item is too long": func(e *annotate.Entry) { e.Answer.Item = strings.Repeat("x", 1<<20) },
		"at most 100":          func(e *annotate.Entry) { e.Annotator = strings.Repeat("ы", 101) },
	} {
		bad := good
		change(&bad)
		if err := l.Add(good, bad); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
	if data, _ := os.ReadFile(path); len(data) != 0 {
		t.Errorf("a part was written: %q", data)
	}
	good.Annotator = strings.Repeat("ы", 100)
	if err := l.Add(good); err != nil {
		t.Error(err)
	}
}

// TestExportedLabelsComeBack as they were, times, notes and items that a spreadsheet would run included; taken again,
// they change nothing.
func TestExportedLabelsComeBack(t *testing.T) {
	t.Parallel()
	l, all := open(t, filepath.Join(t.TempDir(), "l")), tasks(4)
	all[2].Answer.Item, all[3].Answer.Item = "=q", "'=q"
	add(t, l, "ann", all[0], annotate.Correct, "=1+1")
	add(t, l, "ben", all[1], annotate.Unsure, "line\nend, \"quoted\"")
	add(t, l, "ben", all[2], annotate.Correct, "")
	add(t, l, "ben", all[3], annotate.Incorrect, "'quoted'")
	add(t, l, "ann", all[3], annotate.Incorrect, "'=2")
	for name, write := range map[string]func(*bytes.Buffer) error{
		"l.csv":   func(b *bytes.Buffer) error { return annotate.TableOf(l).WriteCSV(b, l) },
		"l.jsonl": func(b *bytes.Buffer) error { return annotate.TableOf(l).WriteJSONL(b, l) },
	} {
		var data bytes.Buffer
		if err := write(&data); err != nil {
			t.Fatal(err)
		}
		if name == "l.csv" && !strings.Contains(data.String(), ",'=1+1,") {
			t.Errorf("a note that a spreadsheet would run:\n%s", data.String())
		}
		r, err := table.New(&data, name, table.Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		back, err := annotate.Import(r, all, "", noon.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if fresh := annotate.Fresh(l, back); len(fresh) != 0 || len(back) != 5 {
			t.Errorf("%s: of %d labels these are new: %+v", name, len(back), fresh)
		}
		for _, e := range back {
			if !e.At.Equal(noon) {
				t.Errorf("%s: a label of %v came back as of %v", name, noon, e.At)
			}
		}
	}
}

func TestImportNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	two := append(tasks(1), tasks(1)...)
	two[1].Answer.Setting.Model = "other"
	for content, want := range map[string]string{
		"item,verdict\nq000,correct\n":                      "label",
		"item,label\nq000,maybe\n":                          `l.csv:2:6: unknown label "maybe"`,
		"item,label\nq999,correct\n":                        `no answer to item "q999"`,
		"item,label\nq000,correct\n":                        "2 answers to item",
		"item,label,model\nq000,correct,nobody\n":           "no answer to item",
		"item,label,annotator\nq000,correct,\" \"\n":        "cannot name an annotator",
		"item,label,model,at\nq000,correct,m,noon\n":        `l.csv:2:16: "noon" is no time`,
		"item,label,model\nq000,correct,m\nq000,unsure,m\n": `l.csv:3:1: ann labelled item "q000" in row 1 already`,
	} {
		r, err := table.New(strings.NewReader(content), "l.csv", table.Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		who := "ann"
		if strings.Contains(content, "annotator") {
			who = ""
		}
		if _, err := annotate.Import(r, two, who, noon); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
	r, err := table.New(strings.NewReader("item,label,model\nq000,Correct,other\nq000,,m\n"), "l.csv", table.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := annotate.Import(r, two, "ann", noon)
	if err != nil || len(got) != 1 || got[0].Answer.Setting.Model != "other" || got[0].Annotator != "ann" {
		t.Errorf("%+v, %v", got, err)
	}
}
