package weights

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// hub serves a file as model hubs do, with ranges, and writes down which were asked for.
type hub struct {
	mu     sync.Mutex
	ranges []string
	serve  http.HandlerFunc
}

func newHub(t *testing.T, serve http.HandlerFunc) (*hub, string) {
	h := &hub{serve: serve}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return h, server.URL + "/tiny.gguf"
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.ranges = append(h.ranges, r.Header.Get("Range"))
	h.mu.Unlock()
	h.serve(w, r)
}

func file(content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

func TestHubComesBeforeClients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h, url := newHub(t, file(w.model))
	w.url(url, false)
	c, r := w.open(t.TempDir())
	w.ensure(c)
	if d := cmp.Diff([]string{""}, h.ranges); d != "" {
		t.Errorf("ranges (-want +got):\n%s", d)
	}
	if asked := w.shelf.asked(); len(asked) != 1 || len(r.notes) != 0 {
		t.Errorf("asked %v, notes %q", asked, r.notes)
	}
}

func TestHubGoesOnWhereAFetchEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h, url := newHub(t, file(w.model))
	w.url(url, true)
	c, _ := w.open(t.TempDir())
	leave(t, c, w.model[:4321])
	w.ensure(c)
	if d := cmp.Diff([]string{"bytes=4321-"}, h.ranges); d != "" {
		t.Errorf("ranges (-want +got):\n%s", d)
	}
}

func TestAPartialFileThatIsTooLongIsCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, url := newHub(t, file(w.model))
	w.url(url, true)
	c, r := w.open(t.TempDir())
	leave(t, c, append(bytes.Clone(w.model), 0))
	w.ensure(c)
	if len(r.notes) != 0 {
		t.Errorf("notes %q", r.notes)
	}
}

func TestHubThatKnowsNoRangesStartsAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, url := newHub(t, func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(w.model) })
	w.url(url, true)
	c, _ := w.open(t.TempDir())
	leave(t, c, w.model[:100])
	w.ensure(c)
}

func TestDroppedConnectionsCostOnlyWhatWasInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h, url := newHub(t, func(rw http.ResponseWriter, r *http.Request) {
		http.ServeContent(&dropping{rw, 2500}, r, "", time.Time{}, bytes.NewReader(w.model))
	})
	w.url(url, true)
	c, r := w.open(t.TempDir())
	w.ensure(c)
	if d := cmp.Diff([]string{"", "bytes=2500-", "bytes=5000-"}, h.ranges); d != "" || len(r.notes) != 0 {
		t.Errorf("notes %q, ranges (-want +got):\n%s", r.notes, d)
	}
}

// dropping closes the connection after some bytes.
type dropping struct {
	http.ResponseWriter
	left int
}

func (d *dropping) Write(b []byte) (int, error) {
	n, _ := d.ResponseWriter.Write(b[:min(len(b), d.left)])
	if d.left -= n; d.left == 0 {
		d.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

func TestWhatAHubCanDoWrongFallsThrough(t *testing.T) {
	t.Parallel()
	other := noise(1234, 6000)
	for name, tt := range map[string]struct {
		serve http.HandlerFunc
		left  int // bytes of the right file that an earlier fetch has left
		note  string
	}{
		"other bytes of the same size": {file(other), 0, "has other bytes: sha256 " + sumOf(other)},
		"another size":                 {file(other[:5999]), 0, "has other bytes: 5999, expected 6000"},
		"a page instead": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "log in")
		}, 0, "answered 403 Forbidden"},
		"an endless file": {func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			for range 100 {
				_, _ = w.Write(other)
			}
		}, 0, "has other bytes"},
		"a range that was not asked for": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-5999/6000")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(other)
		}, 10, "answered with the range"},
		"other bytes behind a right beginning": {file(slices.Concat(other[:3500], other[3500:])), 3500, "has other bytes"},
		"an empty answer":                      {func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() }, 0, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, url := newHub(t, tt.serve)
			w.url(url, false)
			c, r := w.open(t.TempDir())
			leave(t, c, w.model[:tt.left])
			w.ensure(c)
			if !r.noted("tiny: 127.0.0.1", tt.note) {
				t.Errorf("notes %q, want one with %q", r.notes, tt.note)
			}
		})
	}
}

func TestABadBeginningIsNotTheHubsFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h, url := newHub(t, file(w.model))
	w.url(url, false)
	c, r := w.open(t.TempDir())
	leave(t, c, slices.Concat(w.parts[0], noise(5, 500)))
	w.ensure(c)
	if d := cmp.Diff([]string{"bytes=3500-", "bytes=3000-"}, h.ranges); d != "" || len(r.notes) != 0 {
		t.Errorf("notes %q, ranges (-want +got):\n%s", r.notes, d)
	}
}

func TestAnInterruptedFetchIsKept(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	h, url := newHub(t, nil)
	h.serve = func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") != "" {
			file(w.model)(rw, r)
			return
		}
		_, _ = rw.Write(w.model[:2000])
		rw.(http.Flusher).Flush()
		<-r.Context().Done() // the client has gone
	}
	w.url(url, true)
	c, _ := w.open(home, func(o *Options) { o.Reporter = cancelAt{cancel, 2000} })
	if _, err := c.Ensure(ctx, "tiny"); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "is kept") {
		t.Errorf("error %v", err)
	}
	if info, err := os.Stat(c.model(w.catalogue.Models[0]).partial()); err != nil || info.Size() != 2000 {
		t.Errorf("partial file: %v, %v", info, err)
	}
	again, _ := w.open(home)
	w.ensure(again)
	if d := cmp.Diff([]string{"", "bytes=2000-"}, h.ranges); d != "" {
		t.Errorf("ranges (-want +got):\n%s", d)
	}
}

// cancelAt interrupts when a model has come as far as bytes.
type cancelAt struct {
	cancel func()
	bytes  int64
}

func (c cancelAt) Progress(p Progress) {
	if p.Name == "tiny" && p.Done >= c.bytes {
		c.cancel()
	}
}
func (cancelAt) Announce(Announcement) {}
func (cancelAt) Note(string)           {}
func (cancelAt) Done(Item)             {}
func (cancelAt) End()                  {}

func TestARedirectMustNotLeaveTLS(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, plain := newHub(t, file(w.model))
	secure := httptest.NewTLSServer(http.RedirectHandler(plain, http.StatusFound))
	t.Cleanup(secure.Close)
	w.url(secure.URL, false)
	client := secure.Client()
	client.CheckRedirect = staySecure
	c, r := w.open(t.TempDir(), func(o *Options) { o.HTTP = client })
	w.ensure(c)
	if !r.noted("redirected from https to http") {
		t.Errorf("notes %q", r.notes)
	}
}

func TestTheClientIsImpatientAndKeepsTheProxy(t *testing.T) {
	t.Parallel()
	client := newHTTPClient()
	tr := client.Transport.(*http.Transport)
	if tr.Proxy == nil || tr.TLSHandshakeTimeout == 0 || tr.ResponseHeaderTimeout == 0 || client.Timeout != 0 || client.CheckRedirect == nil {
		t.Errorf("transport: proxy %v, handshake %v, header %v; whole transfer %v",
			tr.Proxy != nil, tr.TLSHandshakeTimeout, tr.ResponseHeaderTimeout, client.Timeout)
	}
}
