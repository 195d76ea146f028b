package llamacpp

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm"
)

// The bill against what the library itself says that it takes.
func TestMemoryIsWhatTheLibrarySays(t *testing.T) {
	for _, model := range []string{smollm, qwen, gemma, larger} {
		t.Run(model, func(t *testing.T) {
			if model != smollm && !stress() {
				t.Skip("only with CREDENCE_STRESS: it loads the model")
			}
			c := partsOf(t, model)
			c.Sequences, c.ContextTokens = 5, 300
			e := open(t, c)
			bill := e.Memory()
			load(t, e)
			said := e.lib.log.sizes()
			for what, most := range map[string]int64{"KV": bill.Cells, "model": bill.Weights, "compute": bill.Buffers} {
				if got := said[what]; got == 0 || got > most+1<<20 {
					t.Errorf("%s: the library takes %d bytes, the bill says %d", what, got, most)
				}
			}
			if got := said["KV"]; got < bill.Cells-1<<20 {
				t.Errorf("cells: the library takes %d bytes, the bill says %d", got, bill.Cells)
			}
		})
	}
}

// A process that has nothing but the engine stays below its bound, and the bound is no empty one. It is a
// process of its own since the peak of a process is kept until its end.
func TestMemoryStaysBelowItsBound(t *testing.T) {
	const marker, limit = "CREDENCE_TEST_PEAK", 300_000_000
	if os.Getenv(marker) != "" {
		c := partsOf(t, smollm)
		c.MemoryLimit = limit
		e := open(t, c)
		fill(t, e)
		fmt.Printf("bill %d of %v\n", e.Memory().Total(), e.Memory())
		fmt.Print(peakLine(t))
		return
	}
	if peakLine(t) == "" {
		t.Skip("this system does not tell a process its peak of memory")
	}
	if underRace {
		t.Skip("the race detector takes several times the memory of the program")
	}
	partsOf(t, smollm) // or skip
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMemoryStaysBelowItsBound$")
	cmd.Env = append(os.Environ(), marker+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var bill, peak int64
	if _, err := fmt.Sscan(afterWord(string(out), "bill"), &bill); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := fmt.Sscan(afterWord(string(out), "VmHWM:"), &peak); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if peak *= 1024; bill > limit || peak > bill || peak < bill*3/4 {
		t.Errorf("a peak of %d bytes, a bill of %d, a bound of %d\n%s", peak, bill, limit, out)
	}
}

// fill asks for so many long and wide texts that all cells and buffers are used.
func fill(t *testing.T, e *Engine) {
	var reqs []llm.Request
	for i := range 2 * e.Memory().Sequences {
		p := llm.Prompt{Text: fmt.Sprintf("%d. %s", i, strings.Repeat("One and ", 20))}
		reqs = append(reqs, llm.Request{Kind: llm.Score, Prompt: p, Answer: strings.Repeat(" two", 60)},
			llm.Request{Kind: llm.Generate, Prompt: p, Decoding: llm.Decoding{MaxTokens: 2, Temperature: 1, TopP: .9}})
	}
	for _, r := range e.Do(t.Context(), reqs) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
}

// peakLine is the line of the peak in what Linux tells a process of itself; empty elsewhere.
func peakLine(t *testing.T) string {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	return regexp.MustCompile(`(?m)^VmHWM:.*\n`).FindString(string(raw))
}

func afterWord(text, word string) string {
	_, after, _ := strings.Cut(text, word)
	return after
}
