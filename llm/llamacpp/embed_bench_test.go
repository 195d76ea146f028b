//go:build unix

package llamacpp

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Texts of so many tokens, their marks included, 32 in one call, by all threads or CREDENCE_THREADS.
func BenchmarkEmbed(b *testing.B) {
	for _, mode := range []Mode{Exact, Fast} {
		for _, tokens := range []int{8, 24, 100} {
			b.Run(fmt.Sprintf("%s, %d tokens", mode, tokens), func(b *testing.B) {
				c := partsOf(b, minilm)
				c.Mode = mode
				if c.Threads, _ = strconv.Atoi(os.Getenv("CREDENCE_THREADS")); c.Threads == 0 {
					c.Threads = runtime.NumCPU()
				}
				e := openEmbedder(b, c)
				reqs := embedRequests(make([]string, 32)...)
				for i := range reqs {
					reqs[i].Prompt.Text = strings.TrimSpace(strings.Repeat(fmt.Sprint(i%10, " "), tokens-embedMarks))
				}
				for _, r := range e.Do(context.Background(), reqs[:1]) { // loads the model
					if r.Err != nil || len(r.Reply.PromptIDs) != tokens {
						b.Fatalf("%d tokens, error %v", len(r.Reply.PromptIDs), r.Err)
					}
				}
				start := processor(b)
				for b.Loop() {
					for _, r := range e.Do(context.Background(), reqs) {
						if r.Err != nil {
							b.Fatal(r.Err)
						}
					}
				}
				report(b, len(reqs), "texts", start)
			})
		}
	}
}
