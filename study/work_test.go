package study_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/study"
)

// follower keeps what a run tells of its progress.
type follower struct {
	mu    sync.Mutex
	first map[study.Stage]study.Progress // of each stage, the first
}

func (f *follower) options(folder string, open study.Opener) study.Options {
	f.first = map[study.Stage]study.Progress{}
	return study.Options{Folder: folder, Open: open, Version: "test", Progress: func(p study.Progress) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if _, seen := f.first[p.Stage]; !seen {
			f.first[p.Stage] = p
		}
	}}
}

// A study with every kind of work, resumed after it was cut off anywhere, has the bytes of one that was not.
func TestResumedStudiesHaveTheSameBytes(t *testing.T) {
	t.Parallel()
	two := strings.Replace(everyPart, "limit: 12", "limit: 6", 1)
	judged := strings.Replace(strings.Replace(quantified, "limit: 12", "limit: 6", 1), "- {name: a, weights: w}", "- {name: a, weights: w}\n- {name: b, weights: v, limit: 4}", 1)
	for name, one := range map[string]struct {
		text string
		open func(...llmtest.Option) study.Opener
	}{
		"supplied answers": {two, func(o ...llmtest.Option) study.Opener { return panel{o} }},
		"verdicts":         {judged, func(o ...llmtest.Option) study.Opener { return wavering{o} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, cut := t.TempDir(), t.TempDir()
			_, undisturbed, err := study.Run(t.Context(), parse(t, one.text), study.Options{Folder: whole, Open: one.open(), Version: "test"})
			if err != nil {
				t.Fatal(err)
			}
			failures := 0
			for n := 1; n < 400; n += 1 + n/2 {
				_, _, err := study.Run(t.Context(), parse(t, one.text), study.Options{Folder: cut, Open: one.open(llmtest.FailOn(n, errors.New("gone"))), Version: "test"})
				if err != nil {
					failures++
				}
			}
			_, again, err := study.Run(t.Context(), parse(t, one.text), study.Options{Folder: cut, Open: one.open(), Version: "test"})
			if err != nil || failures < 4 {
				t.Fatalf("%v after %d failures", err, failures)
			}
			if diff := cmp.Diff(bytesOf(t, whole), bytesOf(t, cut)); diff != "" {
				t.Errorf("resumed results differ:\n%s", diff)
			}
			if total := undisturbed.Made + undisturbed.Reused; again.Made+again.Reused != total || again.Failed != 0 {
				t.Errorf("%d made, %d reused, %d failed; the undisturbed run put %d requests", again.Made, again.Reused, again.Failed, total)
			}
		})
	}
}

// A resumed run passes over what is done: its first call comes before any that is known is looked at.
func TestAResumedRunAsksFirstForWhatIsNotDone(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	shorter := strings.Replace(small, "limit: 12", "limit: 11", 1)
	_, before := run(t, folder, parse(t, shorter), opener{})
	var f follower
	var asked atomic.Int64
	open := opener{[]llmtest.Option{llmtest.Interrupted(func(context.Context, int, llm.Request) error { asked.Add(1); return nil })}}
	_, info, err := study.Run(t.Context(), parse(t, small), f.options(folder, open))
	if err != nil {
		t.Fatal(err)
	}
	if p := f.first[study.StageAnswers]; p.Done != 11 || p.Total != 12 || p.Counts.Made+p.Counts.Reused != 0 {
		t.Errorf("at first %+v", p)
	}
	if p := f.first[study.StageRecall]; p.Done != 1 || p.Counts.Reused != 0 {
		t.Errorf("when the rest was recalled: %+v", p)
	}
	if info.Made != asked.Load() || info.Reused != before.Made+before.Reused {
		t.Errorf("made %d and reused %d, the shorter run had %d", info.Made, info.Reused, before.Made+before.Reused)
	}
	whole := t.TempDir()
	run(t, whole, parse(t, small), opener{})
	if diff := cmp.Diff(bytesOf(t, whole), bytesOf(t, folder)); diff != "" {
		t.Errorf("extended results differ:\n%s", diff)
	}
}

// What decides what is asked decides what is done; what does not, does not.
func TestWhatIsDoneIsDoneForOneWayOfAsking(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	run(t, folder, parse(t, small), opener{})
	for change, done := range map[string]int{
		"": 12,
		"analysis: {resamples: 200}=analysis: {resamples: 150}":                    12,
		"analysis:=protocol: {correctness: [exact.ascii]}\nanalysis:":              12,
		"- {name: a, weights: w}=- {name: z, weights: z}\n- {name: a, weights: w}": 0, // of z
		"- {name: a, weights: w}=- {name: a, weights: other}":                      0,
		"limit: 12=limit: 7":                                                       7,
		"analysis:=protocol: {max_tokens: 31}\nanalysis:":                          0,
		"analysis:=protocol: {contexts: [bare]}\nanalysis:":                        0,
		"analysis:=protocol: {parser: lenient}\nanalysis:":                         0,
		"analysis:=prompts: {bare: \"Now: {{.Question}}\\nAnswer:\"}\nanalysis:":   0,
		"- {name: a, weights: w}=- {name: a, weights: w, repetition_penalty: 1.5}": 0,
		"analysis:=seed: 2\nanalysis:":                                             0,
	} {
		from, to, _ := strings.Cut(change, "=")
		copied := t.TempDir()
		copyLedger(t, folder, copied)
		var f follower
		if _, _, err := study.Run(t.Context(), parse(t, strings.Replace(small, from, to, 1)), f.options(copied, opener{})); err != nil {
			t.Errorf("%q: %v", change, err)
		}
		if p := f.first[study.StageAnswers]; p.Done != done {
			t.Errorf("%q: %d of %d items are done, want %d", change, p.Done, p.Total, done)
		}
	}
	var f follower
	o := f.options(folder, opener{})
	o.Version = "another"
	if _, _, err := study.Run(t.Context(), parse(t, small), o); err != nil || f.first[study.StageAnswers].Done != 0 {
		t.Errorf("another version of the program: %+v, %v", f.first[study.StageAnswers], err)
	}
}

// A mark that is wrong, whatever is wrong with it, changes no result.
func TestWrongMarksChangeNothing(t *testing.T) {
	t.Parallel()
	text := strings.Replace(everyPart, "limit: 12", "limit: 5", 1)
	whole := t.TempDir()
	_, first := runParts(t, whole, text)
	for name, damage := range map[string]struct {
		query string
		made  func(gone int64) bool
	}{
		"calls are gone":        {"DELETE FROM call WHERE id % 3 = 0", func(gone int64) bool { return gone > 0 }},
		"one call is gone":      {"DELETE FROM call WHERE id = (SELECT max(id) / 2 FROM call)", func(gone int64) bool { return gone == 1 }},
		"all calls are gone":    {"DELETE FROM call", func(gone int64) bool { return gone == first.Made }},
		"the digest is another": {"UPDATE item_done SET digest = zeroblob(16), complete = 1 - complete", func(gone int64) bool { return gone == 0 }},
		"no digest at all":      {"UPDATE item_done SET digest = x'00'", func(gone int64) bool { return gone == 0 }},
		"marks of another scope": {"UPDATE item_done SET scope_id = (SELECT max(id) FROM scope) WHERE scope_id = (SELECT min(id) FROM scope) AND item NOT IN " +
			"(SELECT item FROM item_done WHERE scope_id = (SELECT max(id) FROM scope))", func(gone int64) bool { return gone == 0 }},
		"the marks are gone": {"DELETE FROM item_done", func(gone int64) bool { return gone == 0 }},
	} {
		folder := t.TempDir()
		copyLedger(t, whole, folder)
		change(t, folder, "PRAGMA foreign_keys = OFF; "+damage.query)
		gone := first.Made - int64(count(t, folder, "SELECT count(*) FROM call"))
		if !damage.made(gone) {
			t.Fatalf("%s: %d calls are gone", name, gone)
		}
		_, info := runParts(t, folder, text)
		if diff := cmp.Diff(bytesOf(t, whole), bytesOf(t, folder)); diff != "" {
			t.Errorf("%s: results differ:\n%s", name, diff)
		}
		if info.Made != gone {
			t.Errorf("%s: %d calls were made, %d were gone", name, info.Made, gone)
		}
		if diff := cmp.Diff(marks(t, whole), marks(t, folder)); diff != "" {
			t.Errorf("%s: the marks are not mended:\n%s", name, diff)
		}
	}
}

func copyLedger(t *testing.T, from, to string) {
	t.Helper()
	write(t, filepath.Join(to, "ledger.db"), read(t, from, "ledger.db"))
}

func database(t *testing.T, folder string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(folder, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func change(t *testing.T, folder, query string) {
	t.Helper()
	db := database(t, folder)
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, folder, query string) (n int) {
	t.Helper()
	db := database(t, folder)
	defer db.Close()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// marks are the marks of a ledger, by the hash of their scope and item.
func marks(t *testing.T, folder string) map[string]string {
	t.Helper()
	rows, err := database(t, folder).Query("SELECT hex(hash) || hex(item), hex(digest) || complete FROM item_done JOIN scope ON scope.id = scope_id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := map[string]string{}
	for rows.Next() {
		var name, mark string
		if err := rows.Scan(&name, &mark); err != nil {
			t.Fatal(err)
		}
		found[name] = mark
	}
	if len(found) == 0 || rows.Err() != nil {
		t.Fatal(fmt.Sprint("no marks: ", rows.Err()))
	}
	return found
}
