package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestQuick asks the server twice over one connection: it must read a request to its end to find the next one.
func TestQuick(t *testing.T) {
	t.Parallel()
	server, err := serveAt("127.0.0.1:0", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer server.close()
	transport := &http.Transport{MaxConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for range 2 {
		resp, err := client.Post(server.url()+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"`+question(1)+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := bodyOf(t, resp); got != answer {
			t.Errorf("it says %q", got)
		}
	}
	resp, err := client.Get(server.url() + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	if got := bodyOf(t, resp); !strings.Contains(got, `"id":"one"`) {
		t.Errorf("its models are %q", got)
	}
}

func bodyOf(t *testing.T, resp *http.Response) string {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
