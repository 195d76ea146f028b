package ledger_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/ledger/ledgertest"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
)

// written is a ledger of n calls, closed.
func written(t *testing.T, n int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "ledger.db")
	s, err := ledger.OpenSQLite(path)
	if err != nil {
		t.Fatal(err)
	}
	var calls []ledger.Call
	for i := range n {
		calls = append(calls, ledgertest.Call(i))
	}
	if _, err := s.Deliver(t.Context(), ledger.Delivery{Calls: calls}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	return path
}

// change runs SQL on a closed ledger, as an accident would.
func change(t *testing.T, path, query string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

// refused opens path both ways and wants the error target, a hint with the given words, and the
// file left as it was.
func refused(t *testing.T, path string, target error, hint string) {
	t.Helper()
	before, _ := os.ReadFile(path)
	for how, open := range map[string]func(string) (*ledger.Ledger, error){"write": ledger.Open, "read": ledger.OpenReadOnly} {
		l, err := open(path)
		if err == nil {
			_ = l.Close()
		}
		if !errors.Is(err, target) || !strings.Contains(fmt.Sprint(err), hint) || !strings.Contains(fmt.Sprint(err), path) {
			t.Errorf("opened to %s: %v; want %v, with the path and %q", how, err, target, hint)
		}
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	refused(t, file("notes.txt", "some notes"), ledger.ErrNotLedger, "not changed")
	refused(t, file("long.txt", strings.Repeat("some notes ", 1000)), ledger.ErrNotLedger, "not changed")
	refused(t, file("cut.db", "SQLite format 3\x00\x10\x00"), ledger.ErrDamaged, "ledger repair")
	refused(t, dir, ledger.ErrNotLedger, "ledger.db")
	refused(t, os.DevNull, ledger.ErrNotLedger, "name another file")
	other := filepath.Join(dir, "other.db")
	change(t, other, "CREATE TABLE bookmarks (url TEXT)")
	refused(t, other, ledger.ErrNotLedger, "another program")
	refused(t, filepath.Join(dir, "no", "such", "folder.db"), fs.ErrNotExist, "folder must be there")
	if _, err := ledger.OpenReadOnly(filepath.Join(dir, "missing.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "missing.db")); err == nil {
		t.Error("looking made a file")
	}
}

// What is left of a ledger whose creation was cut off is a file without anything in it.
func TestEmptyFileBecomesALedger(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, path)
	if r := l.Through(llmtest.NewScripted(nil)).Do(t.Context(), []llm.Request{question}); r[0].Err != nil {
		t.Error(r[0].Err)
	}
}

func TestNewerLedgerIsRefused(t *testing.T) {
	t.Parallel()
	path := written(t, 3)
	change(t, path, "INSERT INTO meta (version_id, is_applied) VALUES (?, 1)", ledger.SchemaVersion()+1)
	refused(t, path, ledger.ErrNewer, "newer release")
}

func TestDamage(t *testing.T) {
	t.Parallel()
	path := written(t, 2000)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 8192; i < len(content); i++ {
		content[i] = 0xaa
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.OpenReadOnly(path)
	if err == nil {
		_, err = l.Stats(t.Context())
		_ = l.Close()
	}
	if !errors.Is(err, ledger.ErrDamaged) || !strings.Contains(err.Error(), "ledger repair") {
		t.Errorf("pages overwritten: %v", err)
	}
}

// A reply that was changed in the file is not used, and not asked for again in silence.
func TestDamagedCall(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{
		"reply":  "UPDATE call SET reply = CAST(substr(reply, 1, 5) || x'00' || substr(reply, 7) AS BLOB)",
		"ids":    "UPDATE prefix SET ids = x'00010203'",
		"cut":    "UPDATE call SET reply = x''",
		"finish": "UPDATE observed SET said = '{'",
	} {
		path := filepath.Join(t.TempDir(), "ledger.db")
		l, err := ledger.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		engine := llmtest.NewScripted(nil, llmtest.Observing(map[string]string{"a": "b"}))
		l.Through(engine).Do(t.Context(), []llm.Request{question})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		change(t, path, query)
		again := open(t, path)
		a := again.Through(engine)
		got := a.Do(t.Context(), []llm.Request{question})
		if !errors.Is(got[0].Err, ledger.ErrDamaged) || !strings.Contains(got[0].Err.Error(), keyOf(t, a.Identity(), question, 0).String()) {
			t.Errorf("%s: %v", name, got[0].Err)
		}
		if n := len(engine.Calls()); n != 1 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
	path := written(t, 1)
	change(t, path, "UPDATE request SET prompt = x'007b7d'")
	l := open(t, path)
	if _, _, err := l.Find(t.Context(), ledgertest.Call(0).Key.String()); !errors.Is(err, ledger.ErrDamaged) {
		t.Errorf("prompt: %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	s, err := ledger.OpenSQLiteLimited(path, 40)
	if err != nil {
		t.Fatal(err)
	}
	engine := llmtest.NewScripted(nil)
	a := ledger.New(s, path).Through(engine)
	announced := map[int]string{}
	var failure error
	for n := 0; failure == nil && n < 10_000; n++ {
		r := a.Do(t.Context(), []llm.Request{with(sampled, func(r *llm.Request) { r.Prompt = llm.Chat(fmt.Sprint("question ", n), "") })})
		if failure = r[0].Err; failure == nil {
			announced[n] = r[0].Reply.Text
		}
	}
	if !errors.Is(failure, ledger.ErrFull) || !strings.Contains(failure.Error(), "free some space") {
		t.Fatalf("after %d calls: %v", len(announced), failure)
	}
	closeStore(t, s)
	// With space again, what was announced is there and the study goes on.
	l := open(t, path)
	again := l.Through(engine)
	for n, text := range announced {
		r := again.Do(t.Context(), []llm.Request{with(sampled, func(r *llm.Request) { r.Prompt = llm.Chat(fmt.Sprint("question ", n), "") })})
		if r[0].Err != nil || r[0].Reply.Text != text {
			t.Fatalf("call %d: %+v, announced %q", n, r[0], text)
		}
	}
	expectCounts(t, again, int64(len(announced)), 0, 0)
	if r := again.Do(t.Context(), []llm.Request{forced}); r[0].Err != nil {
		t.Error(r[0].Err)
	}
}

func TestManyOpenANewLedgerAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	start := make(chan struct{})
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			<-start
			l, err := ledger.Open(path)
			if err != nil {
				t.Errorf("opener %d: %v", n, err)
				return
			}
			defer l.Close()
			r := l.Through(llmtest.NewScripted(nil)).Do(t.Context(), []llm.Request{with(sampled, func(r *llm.Request) { r.Sample = n })})
			if r[0].Err != nil {
				t.Errorf("opener %d: %v", n, r[0].Err)
			}
		})
	}
	close(start)
	wg.Wait()
	st, err := open(t, path).Stats(t.Context())
	if err != nil || st.Calls() != 8 {
		t.Errorf("%d calls, %v", st.Calls(), err)
	}
}

func TestClosedLedger(t *testing.T) {
	t.Parallel()
	s, err := ledger.OpenSQLite(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	closeStore(t, s)
	if _, err := s.Deliver(t.Context(), ledger.Delivery{Calls: []ledger.Call{ledgertest.Call(1)}}); !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("delivery: %v", err)
	}
}

// Prompts that begin alike are compressed against each other, and read back by whoever opens the
// ledger later, whichever dictionary they were written with.
func TestLearnedDictionaries(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	instruction := "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich; 0123456789 ABCDEFGHIJKLM. " // not in the shared dictionary
	call := func(n int) ledger.Call {
		c := ledgertest.Call(n)
		c.Request.Prompt = llm.Chat(instruction+fmt.Sprint(n*7919), "")
		c.Reply.PromptIDs = append(bytes2ids(instruction), int32(n))
		c.Key = keyOf(t, c.Model, c.Request, 0)
		return c
	}
	const calls = 600 // beyond the second dictionary
	for from := 0; from < calls; from += 200 {
		s, err := ledger.OpenSQLite(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := from; n < from+200; n += 20 {
			var calls []ledger.Call
			for i := range 20 {
				calls = append(calls, call(n+i))
			}
			if _, err := s.Deliver(t.Context(), ledger.Delivery{Calls: calls}); err != nil {
				t.Fatal(err)
			}
		}
		closeStore(t, s)
	}
	s, err := ledger.OpenSQLiteReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for n := range calls {
		got, ok, err := s.Call(t.Context(), call(n).Key)
		if err != nil || !ok {
			t.Fatalf("call %d: %v, %v", n, ok, err)
		}
		if d := cmp.Diff(call(n), got); d != "" {
			t.Fatal(d)
		}
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var first, last float64
	if err := db.QueryRow("SELECT avg(length(prompt)) FROM request WHERE id <= 32").Scan(&first); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("SELECT avg(length(prompt)) FROM request WHERE id > 32").Scan(&last); err != nil {
		t.Fatal(err)
	}
	if last > first/2 {
		t.Errorf("a prompt took %.0f bytes before learning and %.0f after", first, last)
	}
}

func bytes2ids(s string) []int32 {
	var ids []int32
	for _, b := range []byte(s) {
		ids = append(ids, 1000*int32(b))
	}
	return ids
}
