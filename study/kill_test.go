package study_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
	"github.com/credence-lab/credence/study"
)

func init() {
	children["run"] = childRuns
}

// childRuns runs the study of a file, args[0], in the folder args[1], against the scripted models or the server
// args[2]. It prints how many calls it has made whenever it is told, and "finished" at the end.
func childRuns(args []string) error {
	f, err := study.Load(args[0])
	if err != nil {
		return err
	}
	var open study.Opener = panel{}
	if len(args) > 2 {
		open = served{args[2]}
	} else {
		open = noting{panel{}, filepath.Join(args[1], "..", filepath.Base(args[1])+".asked")}
	}
	o := study.Options{Folder: args[1], Open: open, Version: "test", Progress: func(p study.Progress) { fmt.Println("made", p.Counts.Made) }}
	if _, _, err = study.Run(context.Background(), f, o); err == nil {
		fmt.Println("finished")
	}
	return err
}

// noting opens models that write the key of each call to a file before they answer it.
type noting struct {
	inner panel
	path  string
}

func (n noting) Open(ctx context.Context, m study.Model) (study.Opened, error) {
	file, err := os.OpenFile(n.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return study.Opened{}, err
	}
	var identity llm.Identity
	n.inner.options = append(n.inner.options, llmtest.Interrupted(func(_ context.Context, _ int, r llm.Request) error {
		key, err := ledger.KeyOf(identity, r, 0)
		if err == nil {
			_, err = fmt.Fprintln(file, key)
		}
		return err
	}))
	opened, err := n.inner.Open(ctx, m)
	if err == nil {
		identity = opened.Engine.Identity()
	}
	return opened, err
}

// served opens the model of a server.
type served struct{ url string }

func (s served) Open(ctx context.Context, _ study.Model) (study.Opened, error) {
	engine, err := openai.Open(ctx, openai.Config{URL: s.url, Dialect: openai.VLLM, Concurrency: 16})
	return study.Opened{Engine: engine, RepetitionPenalty: 1, PenaltySource: "a script"}, err
}

// counting counts how often each request for tokens was answered, by its body. Asking what the server is, with one
// token to see how many alternatives it tells, and for the ids of a text, is not in the ledger.
type counting struct {
	inner http.Handler
	mu    sync.Mutex
	asked map[string]int
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/completions" {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		if !bytes.Contains(body, []byte(`"logprobs":20,`)) {
			sum := sha256.Sum256(body)
			c.mu.Lock()
			c.asked[hex.EncodeToString(sum[:])]++
			c.mu.Unlock()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	c.inner.ServeHTTP(w, r)
}

// again is how many requests were put beyond the first of each.
func again(asked map[string]int) int {
	n := 0
	for _, times := range asked {
		n += times - 1
	}
	return n
}

// kills is how many times a run is killed: a few, or 100 behind CREDENCE_STRESS ("make stress").
func kills() int {
	if os.Getenv("CREDENCE_STRESS") != "" {
		return 100
	}
	return few
}

const few = 4

const killedStudy = "name: killed\nmodels:\n- {name: a, weights: w}\ndatasets:\n- {name: facts, limit: 12}\nanalysis: {resamples: 50}\n"

// A run that is killed at random moments, again and again, keeps every reply that it announced and makes no call
// twice but those that it was making; resumed to its end it has the bytes of one that was left alone.
func TestKilledRunsResume(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		study  string
		larger *strings.Replacer
		server bool
	}{
		"scripted models, all parts": {strings.Replace(everyPart, "limit: 12", "limit: 6", 1), strings.NewReplacer("limit: 6", "limit: 24"), false},
		"a server":                   {killedStudy, strings.NewReplacer("facts, limit: 12", "facts-120, limit: 120"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if kills() > few { // and more calls, so that more are under way
				one.study = one.larger.Replace(one.study)
			}
			k := &killing{file: filepath.Join(t.TempDir(), "study.yaml"), seed: uint64(time.Now().UnixNano())}
			t.Logf("seed %d", k.seed)
			k.rng = rand.New(rand.NewPCG(k.seed, 0))
			write(t, k.file, one.study)
			if one.server {
				k.server = &counting{inner: fake.New("vllm", llmtest.NewScripted(nil, llmtest.ContextOf(1<<20)), fake.Lies{}), asked: map[string]int{}}
				server := httptest.NewServer(k.server)
				t.Cleanup(server.Close)
				k.url = server.URL
			}
			k.undisturbed(t)
			for k.killed < kills() && !t.Failed() {
				k.toTheEnd(t)
			}
			t.Logf("%d kills in %d runs; %d calls were under way then, %d of them were made again", k.killed, k.runs, k.underWay, k.madeAgain)
		})
	}
}

type killing struct {
	file, url string
	seed      uint64
	rng       *rand.Rand
	server    *counting
	want      string
	alone     time.Duration // what an undisturbed run takes

	killed, runs, underWay, madeAgain int
}

func (k *killing) args(folder string) []string {
	args := []string{k.file, folder}
	if k.url != "" {
		args = append(args, k.url)
	}
	return args
}

func (k *killing) undisturbed(t *testing.T) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "run")
	start := time.Now()
	if out, err := child(t, "run", k.args(folder)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	k.alone, k.want = time.Since(start), bytesOf(t, folder)
}

// toTheEnd kills one run at random moments until it has come to its end in between.
func (k *killing) toTheEnd(t *testing.T) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "run")
	if k.server != nil {
		k.server.mu.Lock()
		clear(k.server.asked)
		k.server.mu.Unlock()
	}
	claimed := map[string]int{} // how often a call was under way when the run was killed
	finished := false
	for !finished && !t.Failed() {
		stored := 0
		if _, err := os.Stat(filepath.Join(folder, "ledger.db")); err == nil {
			stored = calls(t, folder)
		}
		var announced, process int
		announced, process, finished = k.once(t, folder)
		if finished {
			break
		}
		k.killed++
		if _, err := os.Stat(filepath.Join(folder, "ledger.db")); err != nil {
			continue // killed before there was one
		}
		if now := calls(t, folder); now < stored+announced {
			t.Errorf("%d calls were there, %d more announced, and %d are left", stored, announced, now)
		}
		for _, key := range claims(t, folder, process) {
			claimed[key]++
			k.underWay++
		}
	}
	k.runs++
	if diff := cmp.Diff(k.want, bytesOf(t, folder)); diff != "" {
		t.Errorf("after %d kills, results differ from those of an undisturbed run:\n%s", k.killed, diff)
	}
	k.count(t, folder, claimed)
}

// once runs until a random moment, or to the end, and returns how many calls were announced last, and by which process.
func (k *killing) once(t *testing.T, folder string) (announced, process int, finished bool) {
	t.Helper()
	cmd := child(t, "run", k.args(folder)...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Duration(k.rng.Float64()*float64(k.alone)), func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	timer.Stop()
	if stderr.Len() > 0 {
		t.Errorf("the run failed: %s", &stderr)
	}
	for line := range strings.Lines(out.String()) {
		if line == "finished\n" {
			finished = true
		}
		var n int
		if _, err := fmt.Sscanf(line, "made %d\n", &n); err == nil && strings.HasSuffix(line, "\n") {
			announced = max(announced, n) // of the model whose turn it was
		}
	}
	return announced, cmd.Process.Pid, finished
}

// count holds what was asked again against what was under way.
func (k *killing) count(t *testing.T, folder string, claimed map[string]int) {
	t.Helper()
	if k.server != nil {
		k.server.mu.Lock()
		defer k.server.mu.Unlock()
		most := 0
		for _, times := range claimed {
			most += times
		}
		if n := again(k.server.asked); n > most {
			t.Errorf("%d requests were put again, %d calls were under way", n, most)
		}
		k.madeAgain += again(k.server.asked)
		return
	}
	asked := map[string]int{}
	for line := range strings.Lines(read(t, filepath.Dir(folder), filepath.Base(folder)+".asked")) {
		asked[strings.TrimSpace(line)]++
	}
	for key, times := range asked {
		if times > 1+claimed[key] {
			t.Errorf("call %s was made %d times, and was under way %d times when the run was killed", key, times, claimed[key])
		}
	}
	k.madeAgain += again(asked)
}

func calls(t *testing.T, folder string) int {
	t.Helper()
	if count(t, folder, "SELECT count(*) FROM sqlite_schema WHERE name = 'call'") == 0 {
		return 0
	}
	return count(t, folder, "SELECT count(*) FROM call")
}

// claims are the keys of the calls that a process had under way.
func claims(t *testing.T, folder string, process int) []string {
	t.Helper()
	if count(t, folder, "SELECT count(*) FROM sqlite_schema WHERE name = 'claim'") == 0 {
		return nil
	}
	db := database(t, folder)
	defer db.Close()
	rows, err := db.Query("SELECT lower(hex(key)) FROM claim WHERE owner LIKE '% ' || ? || ' %'", process)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var keys []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}
