package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// page is a report opened in Chromium, with what the browser had to say of it.
type page struct {
	ctx  context.Context
	mu   sync.Mutex
	said []string // errors and warnings of the console, exceptions
	sent []string // addresses asked for
	done chan struct{}
}

// chromium finds a browser, or skips the test where there is none, unless that counts as a failure.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, `no Chromium on this machine; "make deps" installs it`)
	return ""
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CREDENCE_REQUIRE_BROWSER") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// view is how a reader looks at a page.
type view struct {
	width, height int64
	dark, phone   bool
}

// scheme is what the reader's system prefers.
func (v view) scheme() string {
	if v.dark {
		return "dark"
	}
	return "light"
}

// open opens an HTML file in a browser of its own.
func open(t *testing.T, file string, v view) *page {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:len(chromedp.DefaultExecAllocatorOptions):len(chromedp.DefaultExecAllocatorOptions)],
		chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.WSURLReadTimeout(2*time.Minute))
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewContext(allocator)
	t.Cleanup(stop)
	p := &page{ctx: ctx, done: make(chan struct{}, 1)}
	must(t, chromedp.Listen(ctx, p.hear))
	must(t, chromedp.ListenBrowser(ctx, p.hear))
	call(t, p, network.Enable, network.EnableParams{})
	call(t, p, runtime.Enable, cdp.Empty{})
	call(t, p, log.Enable, cdp.Empty{})
	call(t, p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.width, Height: v.height, DeviceScaleFactor: 1, Mobile: v.phone})
	call(t, p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme()}}})
	must(t, chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.ToSlash(file)), chromedp.WaitReady("footer")))
	return p
}

func (p *page) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.said = append(p.said, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		p.said = append(p.said, string(e.Type))
	case *log.EventEntryAdded:
		p.said = append(p.said, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		p.sent = append(p.sent, e.Request.URL)
	case *browser.EventDownloadProgress:
		if e.State == browser.DownloadProgressStateCompleted {
			p.done <- struct{}{}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eval evaluates an expression in the page; a promise is waited for.
func eval[T any](t *testing.T, p *page, expression string) T {
	t.Helper()
	result, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	must(t, err)
	return result
}

// do evaluates what has no result.
func do(t *testing.T, p *page, statement string) { eval[bool](t, p, statement+"; true") }

// quiet fails if the browser complained, or if anything but the file itself was asked for.
func (p *page) quiet(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.said) > 0 {
		t.Errorf("the console has %q", p.said)
	}
	asked := slices.DeleteFunc(slices.Clone(p.sent), func(url string) bool {
		return strings.HasPrefix(url, "data:") || strings.HasPrefix(url, "blob:")
	})
	if len(asked) != 1 {
		t.Errorf("asked for %q; a report asks for itself alone", asked)
	}
}

// download clicks an element and returns the file that comes of it.
func (p *page) download(t *testing.T, element string) string {
	t.Helper()
	folder, yes := t.TempDir(), true
	_, err := chromedp.CallBrowser(p.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: folder, EventsEnabled: &yes,
	})
	must(t, err)
	do(t, p, element+".click()")
	select {
	case <-p.done:
	case <-p.ctx.Done():
		t.Fatal("no download came")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("downloaded %v, %v", files, err)
	}
	return string(read(t, files[0]))
}

// unfold opens every folded part of the page and waits until it is drawn.
func (p *page) unfold(t *testing.T) {
	t.Helper()
	eval[bool](t, p, `(() => {
		for (const d of document.querySelectorAll("details")) d.open = true;
		return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))));
	})()`)
}

// shoot writes a picture.
func (p *page) shoot(t *testing.T, file string, picture chromedp.Action[[]byte]) {
	t.Helper()
	png, err := chromedp.Run(p.ctx, picture)
	must(t, err)
	must(t, os.WriteFile(file, png, 0o644))
}

// call runs a command of the browser's protocol.
func call[P, R any](t *testing.T, p *page, command cdp.Command[P, R], params P) {
	t.Helper()
	_, err := chromedp.Call(p.ctx, command, params)
	must(t, err)
}
