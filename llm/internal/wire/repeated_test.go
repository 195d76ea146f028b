package wire

import (
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestWhatIsRepeatedIsWhatTheDocumentLists reads the table of docs/servers.md and holds the code to it, status by
// status, both ways.
func TestWhatIsRepeatedIsWhatTheDocumentLists(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/servers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| what | repeated |\n|---|---|\n")
	if !found {
		t.Fatal("docs/servers.md has no table of what is repeated")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	listed := map[int]bool{}
	for line := range strings.Lines(table) {
		what, repeated, _ := strings.Cut(strings.Trim(line, "|\n "), " | ")
		for _, status := range regexp.MustCompile(`\b[1-5]\d\d\b`).FindAllString(what, -1) {
			n, err := strconv.Atoi(status)
			if err != nil {
				t.Fatal(err)
			}
			listed[n] = repeated != "no"
		}
	}
	if len(listed) < 15 {
		t.Fatalf("the table lists %v only", listed)
	}
	for status := 300; status < 600; status++ {
		failed := refusal(status, http.Header{}, []byte("{}"), time.Now())
		want, named := listed[status]
		if !named {
			want = status >= 500 // "and others from 500 on"; what is not listed is not repeated
		}
		if failed.repeatable() != want {
			t.Errorf("%d: repeated %t, the document says %t", status, failed.repeatable(), want)
		}
	}
	if refusal(429, http.Header{}, []byte(`{"error":{"message":"x","code":"insufficient_quota"}}`), time.Now()).repeatable() || !strings.Contains(table, "insufficient_quota") {
		t.Error("no money left: repeated, or not in the document")
	}
	for kind, want := range map[Kind]bool{Unreachable: true, Busy: true, Failing: true, Malformed: true, Exhausted: false, Unauthorised: false, Refused: false} {
		if kind.Repeatable() != want {
			t.Errorf("%s: repeated %t", kind, kind.Repeatable())
		}
	}
	for limit, n := range map[string]int{"up to 6 attempts": defaultAttempts, "30 minutes in all": int(defaultDeadline.Minutes()), "in 5 minutes": int(defaultTimeout.Minutes())} {
		if !strings.Contains(table, limit) || !strings.Contains(limit, " "+strconv.Itoa(n)+" ") && !strings.HasPrefix(limit, strconv.Itoa(n)+" ") {
			t.Errorf("the document says %q, the code %d", limit, n)
		}
	}
	if !strings.Contains(table, "| an answer that is none | twice |") || maxMalformed != 2 {
		t.Errorf("an answer that is none is asked for %d times more", maxMalformed)
	}
}
