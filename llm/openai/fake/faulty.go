package fake

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
)

// Fault answers in the place of a server, or changes what it answers.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Faulty is a server whose requests to one path meet the faults, one after another; then it is sound.
type Faulty struct {
	Server http.Handler
	Path   string
	Faults []Fault

	mu   sync.Mutex
	seen int
}

// ServeHTTP answers through the next fault.
func (f *Faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var fault Fault
	if f.Path == "" || r.URL.Path == f.Path {
		f.mu.Lock()
		if f.seen < len(f.Faults) {
			fault = f.Faults[f.seen]
		}
		f.seen++
		f.mu.Unlock()
	}
	if fault == nil {
		f.Server.ServeHTTP(w, r)
		return
	}
	fault(w, r, f.Server)
}

// Begin has the faults met, and the requests counted, from here on: a server is asked what it is before.
func (f *Faulty) Begin(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Faults, f.seen = faults, 0
}

// Seen is how many requests the path had.
func (f *Faulty) Seen() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}

// Always is n times the same fault.
func Always(n int, fault Fault) []Fault {
	out := make([]Fault, n)
	for i := range out {
		out[i] = fault
	}
	return out
}

// Status answers with a status, a body and headers given as name, value, name, value.
func Status(status int, body string, headers ...string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Rewrite changes the body of a sound answer.
func Rewrite(change func(string) string) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(rec.Code)
		_, _ = io.WriteString(w, change(rec.Body.String()))
	}
}

// Hang never answers.
func Hang(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body) // only then is a client's leaving noticed
	<-r.Context().Done()
}

// Reset breaks the connection in the middle of the body.
func Reset(w http.ResponseWriter, r *http.Request, next http.Handler) {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	body := rec.Body.Bytes()
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body[:len(body)/2])
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	panic(http.ErrAbortHandler)
}

// Drip sends a byte each time that step returns, and gives up when the client does.
func Drip(step func(r *http.Request) bool) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		w.WriteHeader(http.StatusOK)
		for _, b := range rec.Body.Bytes() {
			if !step(r) {
				return
			}
			_, _ = w.Write([]byte{b})
			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}
		}
	}
}

// Direct hands requests to a handler without a network, so that time in a test can be made up. A handler that
// aborts breaks the connection.
type Direct struct{ Handler http.Handler }

// RoundTrip answers r, or has the error of its context.
func (d Direct) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	if r.Body != nil {
		body, rerr := io.ReadAll(r.Body)
		if rerr != nil {
			return nil, rerr
		}
		_ = r.Body.Close()
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	rec := httptest.NewRecorder()
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			resp, err = nil, errors.New("connection reset by peer")
		}
	}()
	d.Handler.ServeHTTP(rec, r)
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	return rec.Result(), nil
}
