package main

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// BenchmarkCalls makes durable calls to a server that answers at once, on the same cores.
func BenchmarkCalls(b *testing.B) { benchmarkCalls(b, 0, 64, 5_000) }

// BenchmarkBusy keeps 256 calls in flight at a server that takes half a second, and prints how much of the
// time they are busy.
func BenchmarkBusy(b *testing.B) { benchmarkCalls(b, 500*time.Millisecond, 256, 7_680) }

func benchmarkCalls(b *testing.B, wait time.Duration, flight, n int) {
	server, err := serveAt("127.0.0.1:0", wait)
	if err != nil {
		b.Fatal(err)
	}
	defer server.close()
	for b.Loop() {
		if err := askCalls(b.Context(), server.url(), n, flight, wait); err != nil {
			b.Fatal(err)
		}
	}
}
