package ledger_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/openai"
)

func init() {
	children["serve"] = childServes
}

// childServes is a server of OpenAI's chat route that gives the same reply of eight tokens to everything, at once. It
// prints its address, and ends with its standard input.
func childServes([]string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var tokens []string
	for _, t := range []string{"Gu", "ess", ": ", "Pa", "ris", "\\nProb", "ability: ", "0.9"} {
		tokens = append(tokens, fmt.Sprintf(`{"token":"%s","bytes":null,"logprob":-0.1234567890123,"top_logprobs":[]}`, t))
	}
	reply := []byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1790000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant",` +
		`"content":"Guess: Paris\nProbability: 0.9"},"logprobs":{"content":[` + strings.Join(tokens, ",") + `]},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":60,"completion_tokens":8,"total_tokens":68},"system_fingerprint":"fp_1"}`)
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":[{"id":"m"}]}`))
	})
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(reply)
	})
	go func() { _ = http.Serve(listener, mux) }()
	fmt.Println(listener.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil
}

// serve starts the server in a process of its own and returns its address and its process.
func serve(b *testing.B) (address string, process int) {
	b.Helper()
	cmd := child(b, "serve")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line), cmd.Process.Pid
}

// BenchmarkServed asks a server that answers at once, 256 calls in flight, through the client and the ledger
// together: each call is durable before its caller has it. Server and client share the machine; what a call takes of
// a processor is reported apart for both. CREDENCE_BENCH_CALLS sets how many calls there are (20,000).
func BenchmarkServed(b *testing.B) {
	calls := 20_000
	if n, err := strconv.Atoi(os.Getenv("CREDENCE_BENCH_CALLS")); err == nil {
		calls = n
	}
	address, server := serve(b)
	engine, err := openai.Open(b.Context(), openai.Config{URL: "http://" + address, Dialect: openai.Plain, Concurrency: 256})
	if err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	text := prose()
	for b.Loop() {
		l, err := ledger.Open(filepath.Join(b.TempDir(), "ledger.db"))
		if err != nil {
			b.Fatal(err)
		}
		a := l.Through(engine)
		start, own, theirs := time.Now(), processorTime(os.Getpid()), processorTime(server)
		var next atomic.Int64
		var wg sync.WaitGroup
		for range 256 {
			wg.Go(func() {
				for n := int(next.Add(1)) - 1; n < calls; n = int(next.Add(1)) - 1 {
					at := n * 97 % (len(text) - 250)
					r := llm.Request{Kind: llm.Generate, Prompt: llm.Chat(instruction+string(text[at:at+250])+strconv.Itoa(n), ""), Decoding: llm.Decoding{MaxTokens: 32}}
					if err := a.Do(context.Background(), []llm.Request{r})[0].Err; err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		took := time.Since(start)
		each := func(before time.Duration, process int) float64 {
			return float64((processorTime(process) - before).Microseconds()) / float64(calls)
		}
		b.ReportMetric(float64(calls)/took.Seconds(), "calls/s")
		b.ReportMetric(each(own, os.Getpid()), "µs-here/call")
		b.ReportMetric(each(theirs, server), "µs-server/call")
		if c := a.Counts(); c.Made != int64(calls) {
			b.Fatalf("%d calls made", c.Made)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(statusOf(os.Getpid(), "VmHWM:")/1000, "MB")
}

// processorTime is what a process has used so far, as Linux counts it, to a hundredth of a second; 0 elsewhere.
func processorTime(process int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// statusOf is a number of kilobytes in what Linux says of a process.
func statusOf(process int, name string) float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return n
		}
	}
	return 0
}
