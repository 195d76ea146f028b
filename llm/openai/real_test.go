package openai_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llamacpp"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/weights"
)

// The program and the models that these tests run on; "make test" fetches them.
const (
	program = "llama-server-b10434-linux-x64"
	qwen    = "qwen2.5-coder-0.5b-instruct"
	smollm  = "smollm2-135m-instruct"
)

// realServer starts a llama-server on the embedded engine's own ggml libraries, with the CPU variant that
// every machine has: the program is then the server's and the arithmetic the engine's, so that what differs
// is how they are asked. It computes as the exact mode does: flash attention, no rearranged weights, small
// batches, one thread. Without its parts the test is skipped, or fails if CREDENCE_REQUIRE_ENGINE is set.
func realServer(t *testing.T, model string, contextTokens int) (url string, parts weights.Paths) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the program is one for Linux on x64")
	}
	cache, err := weights.Open(weights.Options{Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	tool, err := cache.Tool(t.Context(), program)
	if err == nil {
		parts, err = cache.Ensure(t.Context(), model)
	}
	if err != nil {
		if os.Getenv("CREDENCE_REQUIRE_ENGINE") != "" {
			t.Fatalf("the server is required: %v", err)
		}
		t.Skipf("not in the cache (credence pull %s %s): %v", model, program, err)
	}
	port := freePort(t)
	start(t, folderOf(t, tool, parts.Library), "--device", "none", "--model", parts.Weights, "--host", "127.0.0.1", "--port", port,
		"--parallel", "1", "--ctx-size", fmt.Sprint(contextTokens), "--flash-attn", "on", "--no-repack", "--ubatch-size", "32", "--batch-size", "32",
		"--threads", "1", "--threads-batch", "1", "--no-warmup")
	return "http://127.0.0.1:" + port, parts
}

// folderOf puts the program and the libraries together, under the names that it looks for.
func folderOf(t *testing.T, tool, library string) string {
	t.Helper()
	dir := t.TempDir()
	link := func(from, file, as string) {
		t.Helper()
		if err := os.Symlink(filepath.Join(from, file), filepath.Join(dir, as)); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"libllama-server-impl.so", "libllama-common.so.0", "libmtmd.so.0", "libllama.so.0"} {
		link(tool, file, file)
	}
	link(library, "libggml-base.so", "libggml-base.so")
	link(library, "libggml-base.so", "libggml-base.so.0")
	link(library, "libggml.so", "libggml.so.0")
	link(library, "libggml-cpu-haswell.so", "libggml-cpu-haswell.so")
	body, err := os.ReadFile(filepath.Join(tool, "llama-server"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "llama-server"), body, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// start runs the program until the test ends, and returns when it says that it listens.
func start(t *testing.T, dir string, args ...string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "llama-server"), args...)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir)
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	if err := cmd.Start(); err != nil {
		stop()
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = in.CloseWithError(fmt.Errorf("the server ended: %v", cmd.Wait()))
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	var said []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), "listening on") {
			drained := make(chan struct{})
			go func() { defer close(drained); _, _ = io.Copy(io.Discard, out) }()
			t.Cleanup(func() { stop(); <-drained })
			return
		}
	}
	t.Fatalf("%v; it said\n%s", lines.Err(), strings.Join(said[max(0, len(said)-8):], "\n"))
}

func TestRealServerConforms(t *testing.T) {
	t.Parallel()
	url, _ := realServer(t, smollm, 512)
	llmtest.Conformance(t, func(t *testing.T) llm.Engine {
		e, err := openai.Open(t.Context(), openai.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if e.Dialect() != openai.LlamaServer {
			t.Fatalf("taken for %s", e.Dialect())
		}
		return e
	}, llmtest.Expect{PromptIDs: true, Tolerance: .02, Specials: map[string]int32{"<|im_end|>": 2, "<|im_start|>": 1}})
}

// TestRealServerAgrees scores 50 answers by a server and in process: the same ids, and the same values
// within .02 nat. It then examines the server, which must hold in all.
func TestRealServerAgrees(t *testing.T) {
	t.Parallel()
	url, parts := realServer(t, qwen, 512)
	server, err := openai.Open(t.Context(), openai.Config{URL: url, Dialect: openai.LlamaServer})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	embedded, err := llamacpp.New(llamacpp.Config{LibraryDir: parts.Library, Weights: parts.Weights, WeightsSHA256: parts.SHA256, CPU: llamacpp.Portable, Threads: 1, ContextTokens: 512})
	if err != nil {
		t.Fatal(err)
	}
	defer embedded.Close()
	reqs := answers()
	here, there := embedded.Do(t.Context(), reqs), server.Do(t.Context(), reqs)
	worst, tokens := 0., 0
	for i := range reqs {
		if here[i].Err != nil || there[i].Err != nil {
			t.Fatalf("%q: in process %v, by the server %v", reqs[i].Answer, here[i].Err, there[i].Err)
		}
		a, b := here[i].Reply, there[i].Reply
		if !slices.Equal(a.PromptIDs, b.PromptIDs) || len(a.Tokens) != len(b.Tokens) {
			t.Fatalf("%q: other tokens: %v and %v", reqs[i].Answer, a.PromptIDs, b.PromptIDs)
		}
		for k := range a.Tokens {
			if a.Tokens[k].ID != b.Tokens[k].ID || string(a.Tokens[k].Piece) != string(b.Tokens[k].Piece) {
				t.Errorf("%q: token %d is %v and %v", reqs[i].Answer, k, a.Tokens[k], b.Tokens[k])
			}
			worst = max(worst, math.Abs(a.Tokens[k].LogProb-b.Tokens[k].LogProb))
			tokens++
		}
	}
	t.Logf("%d answers of %d tokens: within %.2g nats", len(reqs), tokens, worst)
	if worst > .02 {
		t.Errorf("values differ by %v nats", worst)
	}
	findings, err := openai.Check(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.State != openai.Good {
			t.Errorf("%+v", f)
		}
	}
}

// answers are ten questions with five answers each, bare or after an opening, some of them not in ASCII.
func answers() []llm.Request {
	questions := []string{
		"Which planet is red?", "What is the capital of France?", "Who wrote Hamlet?", "How many legs has a spider?", "What is 7 times 8?",
		"Which metal is liquid at room temperature?", "What language is spoken in Brazil?", "Who painted the Mona Lisa?", "Which ocean is the largest?", "日本の首都は？",
	}
	var reqs []llm.Request
	for i, q := range questions {
		opening := []string{"", "Guess:"}[i%2]
		for _, answer := range []string{"Mars", "Paris", "William Shakespeare", "56", "東京"} {
			if opening != "" {
				answer = " " + answer
			}
			reqs = append(reqs, llm.Request{Kind: llm.Score, Prompt: llm.Chat(q, opening), Answer: answer})
		}
	}
	return reqs
}
