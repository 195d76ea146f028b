package weights

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// A source that does not answer is given up after these. None bounds a whole transfer: a slow line
// is no fault.
const (
	connectTimeout = 3 * time.Second
	answerTimeout  = 10 * time.Second
	stallTimeout   = 30 * time.Second
)

// newHTTPClient is the standard transport, with its proxies and certificates, made impatient.
func newHTTPClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext
	t.TLSHandshakeTimeout = connectTimeout
	t.ResponseHeaderTimeout = answerTimeout
	return &http.Client{Transport: t, CheckRedirect: staySecure}
}

// staySecure follows a redirect (hubs hand files to other hosts) unless it leaves TLS.
func staySecure(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("more than 10 redirects")
	}
	if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return fmt.Errorf("redirected from https to %s", req.URL.Scheme)
	}
	return nil
}

// urlDelivery fetches a whole file over HTTP, from where the partial file ends.
type urlDelivery struct {
	client *http.Client
	url    string
}

func (d *urlDelivery) name() string {
	if u, err := url.Parse(d.url); err == nil {
		return u.Host
	}
	return d.url
}

// deliver goes on as long as each request brings the file further, then checks the whole. If that
// fails and the file did not start with this source, once more from what is surely right.
func (d *urlDelivery) deliver(ctx context.Context, p *partial) error {
	start, err := p.size()
	if err != nil {
		return err
	}
	if err := d.complete(ctx, p, start); err != nil {
		return err
	}
	err = p.check(ctx)
	if errors.Is(err, errOtherBytes) && start > p.trusted {
		if err := d.complete(ctx, p, p.trusted); err != nil {
			return err
		}
		err = p.check(ctx)
	}
	return err
}

// complete repeats the request while there is progress: a line that drops costs no more than the
// bytes in flight.
func (d *urlDelivery) complete(ctx context.Context, p *partial, from int64) error {
	for from < p.of.Bytes {
		n, err := d.request(ctx, p, from)
		switch {
		case n == p.of.Bytes:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case isLocal(err) || n <= from:
			return err
		}
		from = n
	}
	return nil
}

// request asks for the bytes from offset from on and appends them. It returns how far the file is.
func (d *urlDelivery) request(ctx context.Context, p *partial, from int64) (int64, error) {
	resp, err := get(ctx, d.client, d.url, from)
	if err != nil {
		return from, err
	}
	defer resp.Body.Close()
	if from, err = startOf(resp, from, p.of.Bytes); err != nil {
		return from, err
	}
	w, err := p.appender(from)
	if err != nil {
		return from, err
	}
	n, err := io.Copy(w, io.LimitReader(resp.Body, p.of.Bytes-from))
	if err == nil && from+n < p.of.Bytes {
		err = io.ErrUnexpectedEOF
	}
	return from + n, err
}

// get asks for a URL from an offset on. Reading the body fails when no byte comes for a while.
func get(ctx context.Context, client *http.Client, from string, offset int64) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	req.Header.Set("User-Agent", "credence")
	// Transparent compression would make sizes and ranges mean something else.
	req.Header.Set("Accept-Encoding", "identity")
	if offset > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	resp, err := client.Do(req)
	if err != nil {
		cancel(nil)
		return nil, plainHTTPError(err)
	}
	stalled := time.AfterFunc(stallTimeout, func() { cancel(errStalled) })
	resp.Body = &watched{resp.Body, ctx, stalled, cancel}
	return resp, nil
}

// startOf says at which offset the body of a response begins, or why it is not wanted.
func startOf(resp *http.Response, asked, size int64) (int64, error) {
	switch resp.StatusCode {
	case http.StatusOK:
		if resp.ContentLength >= 0 && resp.ContentLength != size {
			return asked, fmt.Errorf("%w: %d, expected %d", errOtherBytes, resp.ContentLength, size)
		}
		return 0, nil
	case http.StatusPartialContent:
		var first, last, total int64
		_, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total)
		if err != nil || first != asked || total != size {
			return asked, fmt.Errorf("answered with the range %q, asked from %d of %d", resp.Header.Get("Content-Range"), asked, size)
		}
		return first, nil
	}
	return asked, fmt.Errorf("answered %s", resp.Status)
}

var errStalled = fmt.Errorf("no byte for %v", stallTimeout)

// watched pushes back the end of patience at each byte.
type watched struct {
	io.ReadCloser
	ctx    context.Context
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.ReadCloser.Read(b)
	w.timer.Reset(stallTimeout)
	if cause := context.Cause(w.ctx); err != nil && err != io.EOF && cause != nil {
		err = cause
	}
	return n, err
}

func (w *watched) Close() error {
	w.timer.Stop()
	w.cancel(nil)
	return w.ReadCloser.Close()
}

// plainHTTPError leaves out the method and the URL, which the caller names.
func plainHTTPError(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
