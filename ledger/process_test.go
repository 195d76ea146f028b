package ledger_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
)

func init() {
	children["ask"] = childAsks
	children["announce"] = childAnnounces
	children["claim"] = childClaims
}

// child starts this test binary again as another process; nothing of it outlives the test.
func child(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "LEDGER_TEST_CHILD="+name)
	return cmd
}

func numbered(n int) llm.Request {
	return with(sampled, func(r *llm.Request) { r.Prompt = llm.Chat(fmt.Sprint("question ", n/5), "Answer:"); r.Sample = n % 5 })
}

const (
	askWriters = 16
	askEach    = 20
)

// childAsks asks from 16 goroutines for the same calls as every other child, in another order, and
// prints how many it made.
func childAsks(args []string) error {
	l, err := ledger.Open(args[0])
	if err != nil {
		return err
	}
	a := l.Through(llmtest.NewScripted(nil))
	var wg sync.WaitGroup
	errs := make(chan error, askWriters*askEach)
	for w := range askWriters {
		wg.Go(func() {
			for n := range askEach {
				r := a.Do(context.Background(), []llm.Request{numbered(w*askEach + n), numbered(n*askWriters + w)})
				errs <- errors.Join(r[0].Err, r[1].Err)
			}
		})
	}
	wg.Wait()
	close(errs)
	for e := range errs {
		err = errors.Join(err, e)
	}
	fmt.Println(a.Counts().Made)
	return errors.Join(err, l.Close())
}

// 32 writers on one file in two processes: none is told that the database is locked, each call is
// made once and stored once (requests-cache#515).
func TestTwoProcessesShareALedger(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	var wg sync.WaitGroup
	made := make([]int, 2)
	for i := range made {
		wg.Go(func() {
			out, err := child(t, "ask", path).Output()
			if err != nil {
				var exit *exec.ExitError
				if errors.As(err, &exit) {
					err = fmt.Errorf("%w: %s", err, exit.Stderr)
				}
				t.Error(err)
				return
			}
			made[i], err = strconv.Atoi(string(bytes.TrimSpace(out)))
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	st, err := open(t, path).Stats(t.Context())
	const calls = askWriters * askEach
	if err != nil || st.Calls() != calls || st.Claims != 0 {
		t.Errorf("%d calls stored, %d claims left, %v; want %d and none", st.Calls(), st.Claims, err, calls)
	}
	if made[0]+made[1] != calls {
		t.Errorf("%d + %d calls were made, want %d together", made[0], made[1], calls)
	}
}

// childAnnounces asks for call after call from a first one on, from 8 goroutines, and prints the number of each when it
// has the reply, until it is killed.
func childAnnounces(args []string) error {
	l, err := ledger.Open(args[0])
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	a := l.Through(llmtest.NewScripted(nil))
	var mu sync.Mutex
	for w := range 8 {
		go func() {
			for n := first + w; ; n += 8 {
				r := a.Do(context.Background(), []llm.Request{numbered(n)})
				mu.Lock()
				if r[0].Err != nil {
					fmt.Fprintln(os.Stderr, r[0].Err)
					os.Exit(1)
				}
				fmt.Println(n)
				mu.Unlock()
			}
		}()
	}
	select {}
}

// Whenever a process is killed, every reply that it announced is in the ledger, and the next process
// goes on at once. CREDENCE_STRESS=N kills N times instead of 4 ("make stress").
func TestKilledProcessLosesNothing(t *testing.T) {
	t.Parallel()
	rounds := 4
	if n, err := strconv.Atoi(os.Getenv("CREDENCE_STRESS")); err == nil {
		rounds = n
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var announced []int
	for round := range rounds {
		// Each child begins with calls that the one before may have had under way.
		announced = append(announced, killAfter(t, path, max(0, len(announced)-20), rng.IntN(120))...)
		if len(announced) == 0 {
			continue // killed before it did anything
		}
		view, err := ledger.OpenReadOnly(path)
		if err != nil {
			t.Fatal(err)
		}
		a, want := view.Peek(refuser{llmtest.NewScripted(nil)}), llmtest.NewScripted(nil)
		for _, n := range announced {
			got, expected := a.Do(t.Context(), []llm.Request{numbered(n)})[0], want.Do(t.Context(), []llm.Request{numbered(n)})[0]
			if got.Err != nil || got.Reply.Text != expected.Reply.Text {
				t.Fatalf("round %d: reply %d was announced and is lost: %+v", round, n, got)
			}
		}
		if err := view.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(announced) == 0 {
		t.Error("nothing was ever announced")
	}
	l := open(t, path)
	if r := l.Through(llmtest.NewScripted(nil)).Do(t.Context(), []llm.Request{numbered(1_000_000)}); r[0].Err != nil {
		t.Error(r[0].Err)
	}
}

// refuser answers nothing: whatever reaches it was not in the ledger.
type refuser struct{ *llmtest.Scripted }

func (refuser) Do(_ context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	for i := range results {
		results[i].Err = errors.New("not in the ledger")
	}
	return results
}

// killAfter kills a child that begins with the given call after it has announced the given number of replies, and returns all that
// it announced.
func killAfter(t *testing.T, path string, first, replies int) []int {
	t.Helper()
	cmd := child(t, "announce", path, strconv.Itoa(first))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var announced []int
	lines := bufio.NewReader(out)
	killed := false
	for {
		if !killed && len(announced) >= replies {
			killed = true
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			break // a line that was cut off announces nothing
		}
		n, err := strconv.Atoi(line[:len(line)-1])
		if err != nil {
			t.Fatal(err)
		}
		announced = append(announced, n)
	}
	_ = cmd.Wait()
	if stderr.Len() > 0 {
		t.Errorf("the child failed: %s", &stderr)
	}
	return announced
}

// childClaims has a call under way when standard input ends, and dies of it.
func childClaims(args []string) error {
	l, err := ledger.Open(args[0])
	if err != nil {
		return err
	}
	a := l.Through(llmtest.NewScripted(nil, llmtest.Interrupted(func(context.Context, int, llm.Request) error {
		fmt.Println("asking")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(9)
		return nil
	})))
	a.Do(context.Background(), []llm.Request{question})
	return nil
}

func TestClaimsOfADeadProcessAreVoid(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	cmd := child(t, "claim", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "asking\n" {
		t.Fatalf("%q, %v", line, err)
	}
	s, err := ledger.OpenSQLite(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	key := []ledger.Key{keyOf(t, llmtest.NewScripted(nil).Identity(), question, 0)}
	states, err := s.Claim(t.Context(), "me", time.Hour, key)
	if err != nil || states[0] != ledger.ClaimHeld {
		t.Errorf("while it lives: %v, %v", states, err)
	}
	_ = in.Close()
	_ = cmd.Wait()
	states, err = s.Claim(t.Context(), "me", time.Hour, key)
	if err != nil || states[0] != ledger.ClaimGranted {
		t.Errorf("after its death: %v, %v", states, err)
	}
}
