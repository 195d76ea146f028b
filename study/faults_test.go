package study_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai/fake"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/study"
)

// TestStudyThroughFaults runs the suites below on made-up time, so that waits of hours take none. They have a
// process of their own: libraries keep pools of compressors, and one that was made in a bubble of such time
// cannot be used outside.
func TestStudyThroughFaults(t *testing.T) {
	t.Parallel()
	for _, suite := range []string{"TestPassingFaults", "TestLastingFaults", "TestNoNumbers"} {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+suite+"$", "-test.count=1")
			cmd.Env = append(os.Environ(), inBubble+"=1")
			if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// inBubble is set where a suite is to run.
const inBubble = "CREDENCE_TEST_IN_BUBBLE"

// bubble runs a suite on made-up time.
func bubble(t *testing.T, suite func(t *testing.T)) {
	if os.Getenv(inBubble) == "" {
		t.Skip("run by TestStudyThroughFaults, in a process of its own")
	}
	synctest.Test(t, suite)
}

// whole is what a run through a sound server leaves.
func whole(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	runServed(t, folder, parse(t, servedStudy), fake.New("vllm", serverModel(t), fake.Lies{}))
	return bytesOf(t, folder)
}

// first breaks the first answers to each request, times of them; asked again it is sound.
type first struct {
	server http.Handler
	fault  fake.Fault
	times  int

	mu   sync.Mutex
	seen map[string]int
}

func (f *first) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	if f.seen == nil {
		f.seen = map[string]int{}
	}
	key := r.URL.Path + string(body)
	f.seen[key]++
	breaks := r.Method == http.MethodPost && f.seen[key] <= f.times
	f.mu.Unlock()
	if breaks {
		f.fault(w, r, f.server)
		return
	}
	f.server.ServeHTTP(w, r)
}

// stream sends an answer as a gateway does that streams whatever it is asked, with what streams may hold.
func stream(end, colon string) fake.Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		if !strings.Contains(rec.Body.String(), `"choices"`) {
			w.WriteHeader(rec.Code)
			_, _ = w.Write(rec.Body.Bytes())
			return
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		lines := []string{"\uFEFF: PROCESSING", "", "event: ping", "", "id: 1", colon + rec.Body.String(), "", ":", "", colon + "[DONE]", "", ""}
		_, _ = io.WriteString(w, strings.Join(lines, end))
	}
}

// drip sends a byte each millisecond.
var drip = fake.Drip(func(r *http.Request) bool {
	select {
	case <-time.After(time.Millisecond):
		return true
	case <-r.Context().Done():
		return false
	}
})

// A study through a server that breaks every request in some way that passes ends in the bytes of one through
// a sound server; what failed is in the ledger.
func TestPassingFaults(t *testing.T) { bubble(t, passingFaults) }

func passingFaults(t *testing.T) {
	want := whole(t)
	date := func(ahead time.Duration) fake.Fault {
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			fake.Status(429, "{}", "Retry-After", time.Now().Add(ahead).UTC().Format(http.TimeFormat))(w, r, next)
		}
	}
	half := func(s string) string { return s[:len(s)/2] }
	for name, fault := range map[string]fake.Fault{
		"429, seconds":          fake.Status(429, "{}", "Retry-After", "20"),
		"429, milliseconds":     fake.Status(429, "{}", "retry-after-ms", "1500"),
		"429, a date":           date(30 * time.Second),
		"429, a past date":      date(-time.Hour),
		"429, negative":         fake.Status(429, "{}", "Retry-After", "-5"),
		"429, absurd":           fake.Status(429, "{}", "Retry-After", "99999999999999999999"),
		"429, nonsense":         fake.Status(429, "{}", "retry-after-ms", "soon", "Retry-After", "later"),
		"429, without":          fake.Status(429, ""),
		"500":                   fake.Status(500, `{"error":"internal"}`),
		"503":                   fake.Status(503, `{"error":{"message":"Loading model"}}`),
		"time-out":              fake.Hang,
		"reset in the middle":   fake.Reset,
		"truncated JSON":        fake.Rewrite(half),
		"a page with 200":       fake.Status(200, "<!DOCTYPE html><html><body>Sign in</body></html>", "Content-Type", "text/html"),
		"empty body":            fake.Status(200, ""),
		"null":                  fake.Status(200, "null"),
		"an error with 200":     fake.Status(200, `{"error":{"message":"limit reached","code":502}}`),
		"no choice":             rewriting(`"choices":[`, `"choices":[],"others":[`),
		"two choices":           rewriting(`"choices":[`, `"choices":[{"text":"x","finish_reason":"stop"},`),
		"log-probs missing":     rewriting(`"prompt_logprobs"`, `"other"`),
		"null text":             fake.Rewrite(func(s string) string { return texts.ReplaceAllString(s, `"text":null`) }),
		"a value above 0":       fake.Rewrite(func(s string) string { return logProbs.ReplaceAllString(s, `"logprob":0.7`) }),
		"a stream":              stream("\n", "data: "),
		"a stream, CRLF":        stream("\r\n", "data:"),
		"a stream, CR":          stream("\r", "data:"),
		"a stream that is cut":  fake.Status(200, "data: {\"choices\":[\n\n", "Content-Type", "text/event-stream"),
		"a stream of no events": fake.Status(200, ": nothing\n\n", "Content-Type", "text/event-stream"),
		"slow drip":             drip,
	} {
		{
			folder := t.TempDir()
			server := &first{server: fake.New("vllm", serverModel(t), fake.Lies{}), fault: fault, times: 1}
			_, info := runServed(t, folder, parse(t, servedStudy), server)
			if diff := cmp.Diff(want, bytesOf(t, folder)); diff != "" {
				t.Errorf("%s: results differ:\n%s", name, diff)
			}
			harmless := strings.HasPrefix(name, "a stream") && !strings.Contains(name, "of no") && !strings.Contains(name, "cut") || name == "slow drip"
			if attempts := attemptsIn(t, folder); (attempts == 0) != harmless || (info.Models[0].Retries == 0) != harmless {
				t.Errorf("%s: %d failed attempts in the ledger, %d retries", name, attempts, info.Models[0].Retries)
			}
		}
	}
}

var texts = regexp.MustCompile(`"text":"(?:[^"\\]|\\.)*"`)

var logProbs = regexp.MustCompile(`"logprob":-[0-9.e+]+`)

// rewriting replaces texts in answers that have the first of them; others pass.
func rewriting(texts ...string) fake.Fault {
	return fake.Rewrite(func(s string) string { return strings.NewReplacer(texts...).Replace(s) })
}

func attemptsIn(t *testing.T, folder string) int {
	t.Helper()
	l, err := ledger.OpenReadOnly(folder + "/ledger.db")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	st, err := l.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, g := range st.Groups {
		n += g.Attempts
	}
	return n
}

// about breaks all answers to requests about one question.
type about struct {
	server   http.Handler
	question string
	fault    fake.Fault
}

func (a *about) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var asked struct{ Prompt []int32 }
	if json.Unmarshal(body, &asked) == nil && strings.Contains(llmtest.Spell(asked.Prompt), a.question) {
		a.fault(w, r, a.server)
		return
	}
	a.server.ServeHTTP(w, r)
}

// third is an item in the middle of the study.
func third(t *testing.T) record.Item {
	t.Helper()
	facts, err := dataset.Builtin("facts")
	if err != nil {
		t.Fatal(err)
	}
	return facts.Items[2]
}

// A server that breaks what it says of one item for good: the run ends with that item named and all others
// asked, leaves no results, and goes on to the bytes of a sound run when the server is sound.
func TestLastingFaults(t *testing.T) { bubble(t, lastingFaults) }

func lastingFaults(t *testing.T) {
	want, item := whole(t), third(t)
	for name, fault := range map[string]fake.Fault{
		"500":                     fake.Status(500, `{"error":"internal"}`),
		"400":                     fake.Status(400, `{"error":{"message":"it will not"}}`),
		"truncated JSON":          fake.Rewrite(func(s string) string { return s[:len(s)/2] }),
		"a page with 200":         fake.Status(200, "<html>Sign in</html>"),
		"empty body":              fake.Status(200, ""),
		"null text and no choice": fake.Status(200, `{"choices":null}`),
		"two choices":             rewriting(`"choices":[`, `"choices":[{"text":"x","finish_reason":"stop"},`),
		"log-probs too short":     fake.Rewrite(func(s string) string { return strings.Replace(s, `"prompt_logprobs":[null,`, `"prompt_logprobs":[`, 1) }),
		"log-probs missing":       rewriting(`"prompt_logprobs"`, `"other"`),
		"duplicate alternatives": fake.Rewrite(func(s string) string {
			return regexp.MustCompile(`\{"(\d+)":\{"logprob"`).ReplaceAllString(s, `{"$1":{"logprob":-0.25},"$1":{"logprob"`)
		}),
	} {
		{
			folder := t.TempDir()
			sound := fake.New("vllm", serverModel(t), fake.Lies{})
			_, _, err := study.Run(t.Context(), parse(t, servedStudy), study.Options{Folder: folder, Open: serverOpener{&about{sound, item.Question, fault}}, Version: "test"})
			var lost *collect.Lost
			if !errors.As(err, &lost) || len(lost.Unwrap()) != 1 || !strings.Contains(err.Error(), "1 item could not be had, all others were asked: item "+item.ID) {
				t.Fatalf("%s: %v", name, err)
			}
			if attemptsIn(t, folder) == 0 {
				t.Error(name, "no attempt is in the ledger")
			}
			_, info := runServed(t, folder, parse(t, servedStudy), sound)
			if diff := cmp.Diff(want, bytesOf(t, folder)); diff != "" {
				t.Errorf("%s: results differ:\n%s", name, diff)
			}
			if info.Made > 5 || info.Reused < 25 {
				t.Errorf("%s: made %d, reused %d of 30 calls: others were not asked the first time", name, info.Made, info.Reused)
			}
		}
	}
}

// A server that has no number for a probability: the item's scores are missing with their reason, and the
// study ends with all others as they are.
func TestNoNumbers(t *testing.T) { bubble(t, noNumbers) }

func noNumbers(t *testing.T) {
	item := third(t)
	for _, written := range []string{"-9999.0", "-3.4028234663852886e+38", "NaN", "-Infinity", "null"} {
		{
			fault := fake.Rewrite(func(s string) string { return logProbs.ReplaceAllString(s, `"logprob":`+written) })
			server := &about{fake.New("vllm", serverModel(t), fake.Lies{}), item.Question, fault}
			results, _ := runServed(t, t.TempDir(), parse(t, servedStudy), server)
			c := results.Settings[0].Comparisons[0]
			left := fmt.Sprint(c.LeftOut)
			if c.Asked != 6 || c.Used != 5 || !strings.Contains(left, string(record.NoLogProb)) {
				t.Errorf("%s: asked %d, used %d, left out %s", written, c.Asked, c.Used, left)
			}
		}
	}
}
