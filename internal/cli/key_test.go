package cli_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/credence-lab/credence/internal/cli"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai/fake"
)

// TestKeysAreNowhere runs studies with a key from the environment and from a file, through success, through
// refusals that repeat the key, and through a server that writes it into its answers; then every byte that was
// left on disk and said on the streams is searched.
func TestKeysAreNowhere(t *testing.T) {
	const secret = "sk-very-secret-0123456789"
	t.Setenv("CREDENCE_TEST_SERVER_KEY", secret)
	planted, err := plantedItems()
	if err != nil {
		t.Fatal(err)
	}
	planted = append(planted, checked)
	folder := t.TempDir()
	keyFile := filepath.Join(t.TempDir(), "key")
	write(t, keyFile, secret+"\n")
	write(t, filepath.Join(folder, "mine.csv"), "question,answer\nWhat is the capital of France?,Paris\nWhat is the capital of Finland?,Helsinki\n")

	var asked atomic.Int64
	said := func(status int) fake.Fault {
		return fake.Status(status, fmt.Sprintf(`{"error":{"message":"Incorrect API key provided: %s (Authorization: Bearer %s)","code":"bad %s"}}`, secret, secret, secret), "X-Echo", secret)
	}
	for name, c := range map[string]struct {
		key   string
		fault fake.Fault // of every third request after the first few; an answer that is only changed is each
		code  int
	}{
		"environment": {"key_env: CREDENCE_TEST_SERVER_KEY", nil, 0},
		"file":        {"key_file: " + keyFile, nil, 0},
		"busy":        {"key_env: CREDENCE_TEST_SERVER_KEY", fake.Status(429, fmt.Sprintf("slow down, %s", secret), "retry-after-ms", "1"), 0},
		"refused":     {"key_env: CREDENCE_TEST_SERVER_KEY", said(401), 1},
		"wrong":       {"key_env: CREDENCE_TEST_SERVER_KEY", said(400), 1},
		"disguised":   {"key_env: CREDENCE_TEST_SERVER_KEY", fake.Status(200, fmt.Sprintf(`{"error":{"message":"key %s","code":422}}`, secret)), 1},
		"answered": {"key_env: CREDENCE_TEST_SERVER_KEY", fake.Rewrite(func(s string) string {
			return strings.NewReplacer(`"id":"cmpl-1"`, `"id":"cmpl-1","system_fingerprint":"`+secret+`"`).Replace(s)
		}), 0},
	} {
		server := fake.New("vllm", llmtest.NewQuiz(planted, llmtest.ContextOf(2048)), fake.Lies{})
		asked.Store(0)
		at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n := asked.Add(1); c.fault != nil && r.Method == http.MethodPost && r.URL.Path == "/v1/completions" && (name == "answered" || n > 40 && n%3 == 0) {
				c.fault(w, r, server)
				return
			}
			server.ServeHTTP(w, r)
		}))
		study := filepath.Join(folder, name+".yaml")
		write(t, study, fmt.Sprintf("name: %s\nmodels:\n- {name: served, engine: vllm, url: \"%s\", %s}\ndatasets:\n- {file: mine.csv}\nanalysis: {resamples: 0}\n", name, at.URL, c.key))
		var out, errs bytes.Buffer
		for _, args := range [][]string{
			{"plan", study, "--out", filepath.Join(folder, "run-"+name)},
			{"run", study, "--out", filepath.Join(folder, "run-"+name), "--verbose"},
			{"ledger", filepath.Join(folder, "run-"+name)},
		} {
			code := cli.Run(t.Context(), args, strings.NewReader(""), &out, &errs)
			if want := map[bool]int{true: c.code}[args[0] == "run"]; code != want {
				t.Errorf("%s: %s exits with %d, want %d: %s", name, args[0], code, want, errs.String())
			}
		}
		at.Close()
		for _, header := range server.Authorizations() {
			if header != "Bearer "+secret {
				t.Fatalf("%s: sent %q", name, header)
			}
		}
		search(t, name+": standard output", out.Bytes(), secret)
		search(t, name+": standard error", errs.Bytes(), secret)
	}
	files := 0
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		search(t, path, data, secret)
		return err
	})
	if err != nil || files < 40 {
		t.Errorf("%d files were searched, %v", files, err)
	}
}

// search looks for a secret in the forms in which one gets written by mistake.
func search(t *testing.T, where string, data []byte, secret string) {
	t.Helper()
	for _, form := range []string{secret, "very-secret", hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte(secret))[:20]} {
		if at := bytes.Index(data, []byte(form)); at >= 0 {
			t.Errorf("%s holds the key: %q", where, data[max(0, at-60):min(len(data), at+60)])
			return
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
