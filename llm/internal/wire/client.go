package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/credence-lab/credence/llm"
)

// Attempt is one try that brought no usable answer.
type Attempt struct {
	// Op is what was asked.
	Op string
	// Number counts the tries of one request from 1.
	Number int
	// Asked is when it was sent, Took how long it took.
	Asked time.Time
	Took  time.Duration
	// Err is an [*Error], or that of a context that ended.
	Err error
}

// Client sends requests to one server: bounded, paced and repeated. It is safe for concurrent use.
type Client struct {
	c    Config
	base *url.URL
	http http.RoundTripper
	own  *http.Transport // to be closed with the client; nil if the transport is the user's
	*endpoint
	closing sync.Once
	retries failsafe.Executor[[]byte]
	again   atomic.Int64 // how many attempts were not the first
}

const (
	// maxBody bounds an answer. The largest honest one holds the log-probabilities of a whole vocabulary.
	maxBody = 64 << 20
	// likelyBody is the most room that is made for an answer before it comes.
	likelyBody = 64 << 10
	// firstPause and longestPause are between attempts where the server does not say; the pause doubles.
	firstPause, longestPause = 500 * time.Millisecond, time.Minute
	jitter                   = .25
	// maxMalformed is how often an unusable answer is asked for again: it may be a slip, or how it is.
	maxMalformed = 2
)

// New returns a client of one server. Nothing is sent.
func New(c Config) (*Client, error) {
	stated := c
	c, base, err := c.settle()
	if err != nil {
		return nil, err
	}
	out := &Client{c: c, base: base, endpoint: c.Endpoints.join(base, stated)}
	transport := c.Transport
	if transport == nil {
		out.own = http.DefaultTransport.(*http.Transport).Clone()
		// Go keeps 100 connections at most, and would open the others anew for each request.
		out.own.MaxIdleConns, out.own.MaxIdleConnsPerHost = 0, c.Concurrency
		out.own.MaxConnsPerHost = 0
		transport = out.own
	}
	// No http.Client: it follows redirects, and a request with a key goes where it was sent, or nowhere.
	out.http = transport
	out.retries = failsafe.With[[]byte](retrypolicy.NewBuilder[[]byte]().
		WithMaxAttempts(c.Attempts).
		WithBackoff(firstPause, longestPause).
		WithJitterFactor(jitter).
		WithDelayFunc(func(e failsafe.ExecutionAttempt[[]byte]) time.Duration {
			if failed, ok := errors.AsType[*Error](e.LastError()); ok && failed.After > 0 {
				return failed.After
			}
			return -1 // the growing pause
		}).
		AbortIf(func(_ []byte, err error) bool {
			failed, ok := errors.AsType[*Error](err)
			return !ok || !failed.repeatable()
		}).
		ReturnLastFailure().
		Build())
	return out, nil
}

// Host is the server's name.
func (c *Client) Host() string { return c.base.Hostname() }

// Close closes idle connections. Requests that are under way end as they would.
func (c *Client) Close() {
	c.closing.Do(func() { c.c.Endpoints.leave(c.endpoint) })
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// Post sends body to path as JSON and gives the answer to read, which decodes and checks it. What read
// finds wrong makes the answer malformed. tokens is how many the request may cost, for the pace.
func (c *Client) Post(ctx context.Context, path string, tokens int, body any, read func([]byte) error) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("POST %s: %w", path, err)
	}
	return c.ask(ctx, http.MethodPost, path, tokens, sent, read)
}

// Get asks for path as Post does.
func (c *Client) Get(ctx context.Context, path string, read func([]byte) error) error {
	return c.ask(ctx, http.MethodGet, path, 0, nil, read)
}

// Retries is how often a request was sent again so far.
func (c *Client) Retries() int64 { return c.again.Load() }

// ask makes attempts until one is good, none can be, or time is up. Once nothing more is to be begun (see
// [llm.Finishing]) it waits for nothing but the answer to what was sent.
func (c *Client) ask(ctx context.Context, method, path string, tokens int, sent []byte, read func([]byte) error) error {
	stop := llm.Stop(ctx)
	whole, cancel := context.WithTimeout(ctx, c.c.Deadline)
	defer cancel()
	waits, leave := context.WithTimeout(stop, c.c.Deadline)
	defer leave()
	defer context.AfterFunc(whole, leave)()
	deadline, _ := whole.Deadline()
	unusable, number, good := 0, 0, false
	var last *Error
	_, err := c.retries.WithContext(waits).Get(func() ([]byte, error) {
		if number++; number > 1 {
			c.again.Add(1)
		}
		asked := time.Now()
		answer, begun, err := c.attempt(whole, waits, method, path, tokens, sent, read)
		if err == nil {
			good = true
			return answer, nil
		}
		status := 0
		if failed, ok := errors.AsType[*Error](err); ok {
			failed.Attempts = number
			if failed.Kind == Malformed {
				unusable++
				failed.Final = failed.Final || unusable > maxMalformed
			}
			failed.Final = failed.Final || time.Now().Add(failed.After).After(deadline)
			last, status = failed, failed.Status
		}
		took := time.Since(asked)
		if begun {
			llm.TellAttempt(ctx, llm.Attempt{Asked: asked, Took: took, Status: status, Err: err})
		}
		if c.c.OnAttempt != nil {
			c.c.OnAttempt(Attempt{Op: method + " " + path, Number: number, Asked: asked, Took: took, Err: err})
		}
		return nil, err
	})
	switch {
	case good || err == nil: // also where it came after the waits had ended
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case stop.Err() != nil:
		return stop.Err()
	case whole.Err() != nil && last != nil:
		return last
	case whole.Err() != nil:
		return &Error{Kind: Unreachable, Op: method + " " + path, What: fmt.Sprintf("no answer in %v", c.c.Deadline), Cause: context.DeadlineExceeded}
	}
	return err
}

// attempt waits for its turn under waits, sends one request and reads its answer under ctx; begun says that
// it was sent. Its errors are an [*Error], or that of a context.
func (c *Client) attempt(ctx, waits context.Context, method, path string, tokens int, sent []byte, read func([]byte) error) (answer []byte, begun bool, err error) {
	if err := c.pace.wait(waits, tokens); err != nil {
		return nil, false, err
	}
	leave, err := c.limit.acquire(waits)
	if err != nil {
		return nil, false, err
	}
	answer, failed := c.exchange(ctx, method, path, sent)
	if failed == nil {
		if err := read(answer); err != nil {
			failed = c.unusable(err)
		}
	}
	switch {
	case failed == nil:
		c.limit.release(true)
		count(ctx, answer)
		return answer, true, nil
	case ctx.Err() != nil:
		c.limit.release(false)
		return nil, true, ctx.Err()
	case failed.congested():
		c.limit.complain(leave, failed.After)
	default:
		c.limit.release(!failed.Kind.Repeatable())
	}
	failed.Op = method + " " + path
	failed.What = Line(c.c.Key.hide(failed.What))
	return nil, true, failed
}

// unusable is what read says of an answer: an [*Error] as it is, anything else makes it malformed.
func (c *Client) unusable(err error) *Error {
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed
	}
	return &Error{Kind: Malformed, What: err.Error()}
}

// exchange is one request and its answer, whole.
func (c *Client) exchange(ctx context.Context, method, path string, sent []byte) ([]byte, *Error) {
	ctx, cancel := context.WithTimeout(ctx, c.c.Timeout)
	defer cancel()
	target := *c.base
	target.Path += path
	req, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(sent))
	if err != nil {
		return nil, &Error{Kind: Refused, What: "the request cannot be made"}
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "credence")
	if sent != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.c.Key.secret != "" {
		req.Header.Set("Authorization", "Bearer "+c.c.Key.secret)
	}
	resp, err := c.http.RoundTrip(req)
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	defer resp.Body.Close()
	body, err := readBody(resp)
	body = c.c.Key.hideBytes(body) // an answer is kept: some servers repeat what they were sent
	switch {
	case err != nil:
		return nil, c.broken(ctx, err)
	case len(body) > maxBody:
		return nil, &Error{Kind: Malformed, Status: resp.StatusCode, What: fmt.Sprintf("the answer has more than %d bytes", maxBody), Final: true}
	case resp.StatusCode != http.StatusOK:
		return nil, refusal(resp.StatusCode, resp.Header, body, time.Now())
	}
	return whole(resp, body)
}

// readBody reads an answer up to one byte more than it may have. A length that a server states is where the reading
// begins, not what is trusted.
func readBody(resp *http.Response) ([]byte, error) {
	var body bytes.Buffer
	body.Grow(int(min(max(resp.ContentLength, 0), likelyBody)) + bytes.MinRead)
	_, err := body.ReadFrom(io.LimitReader(resp.Body, maxBody+1))
	return body.Bytes(), err
}

// broken is the error of a connection.
func (c *Client) broken(ctx context.Context, err error) *Error {
	failed := &Error{Kind: Unreachable, What: err.Error(), Cause: err}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		failed.What, failed.Cause = fmt.Sprintf("no whole answer in %v", c.c.Timeout), context.DeadlineExceeded
	}
	return failed
}

// whole checks that a body of status 200 is an answer: JSON, and not an error in disguise.
func whole(resp *http.Response, body []byte) ([]byte, *Error) {
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		joined, err := joinStream(body)
		if err != nil {
			return nil, &Error{Kind: Malformed, Status: resp.StatusCode, What: err.Error()}
		}
		body = joined
	}
	trimmed := bytes.TrimSpace(body)
	switch {
	case len(trimmed) == 0:
		return nil, &Error{Kind: Malformed, Status: resp.StatusCode, What: "the answer is empty"}
	case trimmed[0] == '<':
		return nil, &Error{Kind: Malformed, Status: resp.StatusCode, What: "the answer is a page, not JSON: " + string(trimmed[:min(len(trimmed), maxWhat)])}
	}
	body = finite(body) // whether it is JSON is seen when it is decoded
	if failed := disguised(resp.Header, body); failed != nil {
		return nil, failed
	}
	return body, nil
}
