package study_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm/openai/fake"
	"github.com/credence-lab/credence/study"
)

// A run on a server that is stopped while requests are under way keeps their replies, and asks them no more.
func TestStoppedRunKeepsWhatWasSent(t *testing.T) {
	t.Parallel()
	model := serverModel(t)
	f := parse(t, servedStudy)
	whole := t.TempDir()
	runServed(t, whole, f, fake.New("vllm", model, fake.Lies{}))

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	server := fake.New("vllm", model, fake.Lies{})
	var late atomic.Int64
	folder := t.TempDir()
	opener := serverOpener{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/completions" && server.Count("/v1/completions") > 40 {
			if ctx.Err() != nil {
				late.Add(1)
			}
			stop() // while this request waits for its answer
		}
		server.ServeHTTP(w, r)
	})}
	_, _, err := study.Run(ctx, f, study.Options{Folder: folder, Open: opener})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	l, err := ledger.OpenReadOnly(folder + "/ledger.db")
	if err != nil {
		t.Fatal(err)
	}
	st, err := l.Stats(t.Context())
	if err != nil || st.Claims != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	for _, g := range st.Groups {
		if g.Attempts > 0 {
			t.Errorf("%d attempts of %s: a request was broken off", g.Attempts, g.Kind)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	kept := int64(st.Calls())
	_, info := runServed(t, folder, f, fake.New("vllm", model, fake.Lies{}))
	if info.Reused != kept || kept < 20 || info.Made == 0 {
		t.Errorf("%d replies were kept, %d of them used again, %d made", kept, info.Reused, info.Made)
	}
	if diff := cmp.Diff(bytesOf(t, whole), bytesOf(t, folder)); diff != "" {
		t.Errorf("results differ:\n%s", diff)
	}
}
