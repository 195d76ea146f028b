package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/ledger/ledgertest"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// whole is a ledger with all that a ledger can have: calls of every kind, among them one with a reply that fills
// pages of its own, prompts packed against learned dictionaries, attempts, marks, and claims.
var whole = sync.OnceValues(func() ([]byte, []ledger.Call) {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ledger.db")
	s, err := ledger.OpenSQLite(path)
	if err != nil {
		panic(err)
	}
	calls := damagedCalls()
	for part := range slices.Chunk(calls, 10) {
		_, err := s.Deliver(context.Background(), ledger.Delivery{Calls: part, Done: []ledger.Done{{Scope: ledger.Digest{1}, Item: ledger.Digest{2}}},
			Attempts: []ledger.Attempt{{Key: part[0].Key, Kind: llm.Generate, Model: ledgertest.Model, Asked: time.UnixMilli(1).UTC(), Error: "refused"}}})
		if err != nil {
			panic(err)
		}
	}
	if _, err := s.Claim(context.Background(), "someone", time.Hour, []ledger.Key{{1}}); err != nil {
		panic(err)
	}
	if err := s.Close(); err != nil {
		panic(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return content, calls
})

func damagedCalls() []ledger.Call {
	rng := rand.New(rand.NewPCG(1, 1))
	var calls []ledger.Call
	for n := range 90 {
		c := ledgertest.Call(n)
		c.Request.Prompt = llm.Chat(fmt.Sprintf("An instruction that all begin with. %x", rng.Uint64()), "Answer:")
		c.Reply.Finish, c.Used = []llm.Finish{llm.FinishEnd, llm.FinishLength}[n%2], llm.Usage{Prompt: int64(n), Generated: 3}
		if n%3 == 0 {
			c.Reply.Observed = map[string]string{"fingerprint": fmt.Sprint(n % 2)}
		}
		if n%5 == 0 {
			c.Request.Kind, c.Request.Answer, c.Request.Decoding = llm.Score, fmt.Sprint("answer ", n), llm.Decoding{}
			c.Reply.Finish, c.Reply.Text = llm.FinishScored, ""
			c.Request.Seed, c.Request.Sample = 0, 0
		}
		if n == 40 {
			noise := make([]byte, 12_000)
			for i := range noise {
				noise[i] = byte('!' + rng.IntN(90))
			}
			c.Reply.Text = string(noise)
		}
		c.Key, _ = ledger.KeyOf(c.Model, c.Request, 0)
		calls = append(calls, c)
	}
	return calls
}

func TestCheckOfASoundLedger(t *testing.T) {
	t.Parallel()
	content, calls := whole()
	path := file(t, content)
	c, err := ledger.Check(t.Context(), path)
	if err != nil || c.Found != 0 || c.Calls != len(calls) || c.Older != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	s := salvage(t, path)
	if s.Calls != len(calls) || s.Attempts != 9 || s.LostCalls != 0 {
		t.Errorf("%+v", s)
	}
	compare(t, s.To, calls, true)
	if c, err := ledger.Check(t.Context(), s.To); err != nil || c.Found != 0 || c.Calls != len(calls) {
		t.Errorf("the repaired ledger: %+v, %v", c, err)
	}
	for _, released := range []string{"v1.db", "v2.db", "v3.db"} {
		content, err := os.ReadFile(filepath.Join("testdata", released))
		if err != nil {
			t.Fatal(err)
		}
		calls, _ := releasedCalls(t)
		path := file(t, content)
		c, err := ledger.Check(t.Context(), path)
		if err != nil || c.Found != 0 || c.Calls != len(calls) || (c.Older > 0) != (released == "v1.db") {
			t.Errorf("%s: %+v, %v", released, c, err)
		}
		s := salvage(t, path)
		if s.Calls != len(calls) || s.Attempts != 1 || s.LostCalls != 0 {
			t.Errorf("%s: %+v", released, s)
		}
		compare(t, s.To, calls, true)
	}
}

func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func salvage(t *testing.T, path string) *ledger.Salvage {
	t.Helper()
	s, err := ledger.Repair(t.Context(), path, path+".repaired")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// compare holds what a ledger has against the calls that were written: nothing else may come out, and if all is set
// nothing may be gone.
func compare(t *testing.T, path string, calls []ledger.Call, all bool) (found int) {
	t.Helper()
	s, err := ledger.OpenSQLiteReadOnly(path)
	if err != nil {
		if all {
			t.Errorf("opened to read: %v", err)
		}
		return 0
	}
	defer s.Close()
	for _, want := range calls {
		got, ok, err := s.Call(t.Context(), want.Key)
		reply, lookupErr := s.Lookup(t.Context(), []ledger.Key{want.Key})
		if all && (err != nil || !ok || lookupErr != nil || len(reply) == 0) {
			t.Errorf("call %v: there %v, %v, %v", want.Key, ok, err, lookupErr)
		}
		if err == nil && ok {
			found++
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("another call came out (-want +got):\n%s", d)
			}
		}
		if one, ok := reply[want.Key]; ok && lookupErr == nil {
			if d := cmp.Diff(want.Reply, one); d != "" {
				t.Errorf("another reply came out (-want +got):\n%s", d)
			}
		}
	}
	return found
}

// damaged checks, reads and repairs a ledger with damage, and holds all of them to what they promise.
func damaged(t *testing.T, content []byte, calls []ledger.Call) {
	t.Helper()
	path := file(t, content)
	c, err := ledger.Check(t.Context(), path)
	sound := err == nil && c.Found == 0
	compare(t, path, calls, sound)
	if sound && c.Calls != len(calls) {
		t.Errorf("%d calls are found sound, %d were written", c.Calls, len(calls))
	}
	s, err := ledger.Repair(t.Context(), path, path+".repaired")
	if err == nil {
		found := compare(t, s.To, calls, false)
		if found != s.Calls {
			t.Errorf("%d calls were repaired, %d of them are those that were written", s.Calls, found)
		}
		if sound && found != len(calls) {
			t.Errorf("%d of %d calls of a sound ledger were repaired", found, len(calls))
		}
	} else if sound {
		t.Errorf("a ledger that is found sound cannot be repaired: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(content, after) {
		t.Errorf("the damaged file was changed: %v", err)
	}
}

// Bytes that turned anywhere are found, or nothing that is read has changed; repairing never gives another call.
// CREDENCE_STRESS turns 3,000 times ("make stress").
func TestBytesThatTurned(t *testing.T) {
	t.Parallel()
	content, calls := whole()
	rounds := 40
	if os.Getenv("CREDENCE_STRESS") != "" {
		rounds = 3000
	}
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range rounds {
		changed := bytes.Clone(content)
		var where []string
		for range 1 + rng.IntN(3)*rng.IntN(3) {
			at, x := rng.IntN(len(content)), byte(1+rng.IntN(255))
			if round%4 == 0 { // headers of the file and of pages are small, and matter most
				at = rng.IntN(len(content)/4096)*4096 + rng.IntN(120)
			}
			changed[at] ^= x
			where = append(where, fmt.Sprintf("%d^%#x", at, x))
		}
		if damaged(t, changed, calls); t.Failed() {
			t.Fatalf("seed %d, round %d: %v", seed, round, where)
		}
	}
}

func FuzzDamage(f *testing.F) {
	content, calls := whole()
	for _, at := range []uint32{0, 18, 68, 100, 105, 4096, 4099, 9000, uint32(len(content) - 1)} {
		f.Add(at, byte(1), uint16(0))
	}
	f.Add(uint32(4096), byte(0xff), uint16(4096))
	f.Add(uint32(0), byte(0xff), uint16(100))
	f.Fuzz(func(t *testing.T, at uint32, x byte, more uint16) {
		changed := bytes.Clone(content)
		from := int(at) % len(content)
		for i := from; i <= min(from+int(more), len(content)-1); i++ {
			changed[i] ^= x
		}
		damaged(t, changed, calls)
	})
}

// What is salvaged of each kind of damage, at least.
func TestRepairSavesWhatIsWhole(t *testing.T) {
	t.Parallel()
	const n = 1000
	content, err := os.ReadFile(written(t, n))
	if err != nil {
		t.Fatal(err)
	}
	var calls []ledger.Call
	for i := range n {
		calls = append(calls, ledgertest.Call(i))
	}
	garbage := bytes.Repeat([]byte{0xaa}, 4096)
	middle := len(content) / 2 / 4096 * 4096
	for name, one := range map[string]struct {
		damage func([]byte) []byte
		least  int
	}{
		"the file's header":         {func(b []byte) []byte { return slices.Concat(garbage[:100], b[100:]) }, n},
		"the first page":            {func(b []byte) []byte { return slices.Concat(garbage, b[4096:]) }, n},
		"a page in the middle":      {func(b []byte) []byte { return slices.Concat(b[:middle], garbage, b[middle+4096:]) }, n * 3 / 4},
		"cut in the middle":         {func(b []byte) []byte { return b[:len(b)/2] }, n / 4},
		"cut within a page":         {func(b []byte) []byte { return b[:len(b)/2/4096*4096+1000] }, n / 4},
		"a page too few at the end": {func(b []byte) []byte { return b[:len(b)-4096] }, n * 3 / 4},
	} {
		path := file(t, one.damage(bytes.Clone(content)))
		c, err := ledger.Check(t.Context(), path)
		if err == nil && c.Found == 0 || err != nil && !errors.Is(err, ledger.ErrNotLedger) {
			t.Errorf("%s: check found %+v, %v", name, c, err)
		}
		s := salvage(t, path)
		if n := compare(t, s.To, calls, false); n != s.Calls || n < one.least {
			t.Errorf("%s: %d calls repaired, want %d at least", name, n, one.least)
		}
		if c, err := ledger.Check(t.Context(), s.To); err != nil || c.Found != 0 {
			t.Errorf("%s: the repaired ledger: %+v, %v", name, c, err)
		}
		t.Logf("%s: %d of %d calls, %d known to be lost", name, s.Calls, len(calls), s.LostCalls)
	}
}

// SQLite takes a log for ended where a byte in it has turned, and says nothing. Check does, and repair reads on.
// TestRepairKeepsEveryKind saves a ledger of one call and one attempt of every kind.
func TestRepairKeepsEveryKind(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	s, err := ledger.OpenSQLite(path)
	if err != nil {
		t.Fatal(err)
	}
	text := llm.Prompt{Text: "a text"}
	delivery := ledger.Delivery{}
	for _, c := range []ledger.Call{
		{Request: llm.Request{Kind: llm.Generate, Prompt: text, Decoding: llm.Decoding{MaxTokens: 3}}, Reply: llm.Reply{Text: "x", Finish: llm.FinishEnd}},
		{Request: llm.Request{Kind: llm.Score, Prompt: text, Answer: "x"}, Reply: llm.Reply{Tokens: []record.Token{{ID: 1, Piece: []byte("x"), LogProb: -1}}, Finish: llm.FinishScored}},
		{Request: llm.Request{Kind: llm.Embed, Prompt: text}, Reply: llm.Reply{Embedding: []float32{.6, .8}, Finish: llm.FinishEmbedded}},
		{Request: llm.Request{Kind: llm.EmbedTokens, Prompt: text}, Reply: llm.TokenReply([]record.Token{{ID: 5, Piece: []byte("a")}, {ID: 6, Piece: []byte("text")}}, [][]float32{{.6, .8}, {1, 0}})},
		{Request: llm.Request{Kind: llm.Entail, Prompt: text, Answer: "y"}, Reply: llm.Entailment{Entails: .5, Neither: .25, Contradicts: .25}.Reply()},
	} {
		c.Model, c.Asked = ledgertest.Model, time.UnixMilli(5).UTC()
		if c.Key, err = ledger.KeyOf(c.Model, c.Request, 0); err != nil {
			t.Fatal(err)
		}
		delivery.Calls = append(delivery.Calls, c)
		delivery.Attempts = append(delivery.Attempts, ledger.Attempt{Key: c.Key, Kind: c.Request.Kind, Model: c.Model, Asked: c.Asked, Error: "refused"})
	}
	if _, err := s.Deliver(t.Context(), delivery); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	saved := salvage(t, path)
	if saved.Calls != len(delivery.Calls) || saved.Attempts != len(delivery.Attempts) || saved.LostCalls != 0 {
		t.Errorf("%+v of %d", saved, len(delivery.Calls))
	}
	compare(t, saved.To, delivery.Calls, true)
}

func TestDamagedLog(t *testing.T) {
	t.Parallel()
	calls := damagedCalls()
	path := filepath.Join(t.TempDir(), "ledger.db")
	s, err := ledger.OpenSQLite(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	for _, c := range calls {
		if _, err := s.Deliver(t.Context(), ledger.Delivery{Calls: []ledger.Call{c}}); err != nil {
			t.Fatal(err)
		}
	}
	main, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]struct {
		log         func([]byte) []byte
		found       bool
		read, saved int // at least, but where nothing is found: exactly
	}{
		"whole":                          {func(b []byte) []byte { return b }, false, len(calls), len(calls)},
		"a turned bit":                   {func(b []byte) []byte { b[len(b)/2] ^= 4; return b }, true, 1, len(calls) * 9 / 10},
		"its header":                     {func(b []byte) []byte { b[17] ^= 4; return b }, true, 0, len(calls) * 9 / 10},
		"torn at the end, as by a crash": {func(b []byte) []byte { return b[:len(b)-100] }, false, len(calls) - 1, len(calls) - 1},
	} {
		changed := file(t, main)
		if err := os.WriteFile(changed+"-wal", one.log(bytes.Clone(log)), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := ledger.Check(t.Context(), changed)
		if err != nil || (c.Found > 0) != one.found || !one.found && c.Calls != one.read {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		if one.found {
			before, _ := os.ReadFile(changed + "-wal")
			refused(t, changed, ledger.ErrDamaged, "its log")
			if after, _ := os.ReadFile(changed + "-wal"); !bytes.Equal(before, after) {
				t.Errorf("%s: the log was written over", name)
			}
		}
		r := salvage(t, changed)
		if n := compare(t, r.To, calls, false); n != r.Calls || n < one.saved {
			t.Errorf("%s: %d calls were repaired, want %d", name, n, one.saved)
		}
		t.Logf("%s: %d read, %d repaired of %d; %q", name, c.Calls, r.Calls, len(calls), c.Findings)
	}
	gone := file(t, main) // and no log: what was in it is gone, and a new ledger begins
	if l, err := ledger.Open(gone); err != nil {
		t.Errorf("without its log: %v", err)
	} else {
		_ = l.Close()
	}
}

func TestRepairRefuses(t *testing.T) {
	t.Parallel()
	content, _ := whole()
	path := file(t, content)
	there := file(t, []byte("notes"))
	if _, err := ledger.Repair(t.Context(), path, there); err == nil || !strings.Contains(err.Error(), "not there yet") {
		t.Errorf("onto another file: %v", err)
	}
	if kept, _ := os.ReadFile(there); string(kept) != "notes" {
		t.Error("another file was overwritten")
	}
	if _, err := ledger.Repair(t.Context(), there, there+".new"); !errors.Is(err, ledger.ErrNotLedger) {
		t.Errorf("of notes: %v", err)
	}
	if _, err := os.Stat(there + ".new"); err == nil {
		t.Error("a ledger was made of notes")
	}
	newer := written(t, 3)
	change(t, newer, "INSERT INTO meta (version_id, is_applied) VALUES (?, 1)", ledger.SchemaVersion()+1)
	if _, err := ledger.Repair(t.Context(), newer, newer+".new"); !errors.Is(err, ledger.ErrNewer) {
		t.Errorf("of a newer ledger: %v", err)
	}
	if _, err := ledger.Check(t.Context(), newer); !errors.Is(err, ledger.ErrNewer) {
		t.Errorf("check of a newer ledger: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ledger.Repair(ctx, path, path+".new"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
