package wire

import (
	"context"
	"net/url"
	"sync"
)

// Endpoints lets the clients of one address share what that address bears: the bound on requests in flight with all that was
// learnt of it, the wait that the server asked for, and the paces. Of limits that several clients state the
// smallest holds.
type Endpoints struct {
	mu   sync.Mutex
	list map[string]*endpoint
}

// endpoint is what one address bears.
type endpoint struct {
	limit  *limiter
	pace   pace
	stated Config // the limits so far; 0 where nobody stated one
	users  int
}

type endpointsKey struct{}

// Sharing returns a context under which clients of one address share it.
func Sharing(ctx context.Context) context.Context {
	return context.WithValue(ctx, endpointsKey{}, &Endpoints{list: map[string]*endpoint{}})
}

// SharedBy are the endpoints of a context of [Sharing]; nil if it is none.
func SharedBy(ctx context.Context) *Endpoints {
	e, _ := ctx.Value(endpointsKey{}).(*Endpoints)
	return e
}

// join returns the endpoint at base for one more client, which must leave it. stated has the client's own
// limits, 0 where it has none. A nil list gives an endpoint of its own.
func (e *Endpoints) join(base *url.URL, stated Config) *endpoint {
	if e == nil {
		e = &Endpoints{list: map[string]*endpoint{}}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.list[base.String()]
	if p == nil {
		p = &endpoint{limit: newLimiter(DefaultConcurrency)}
		e.list[base.String()] = p
	}
	p.users++
	p.state(stated)
	return p
}

// state takes in the limits of one more client.
func (p *endpoint) state(c Config) {
	if tighter(&p.stated.Concurrency, c.Concurrency) {
		p.limit.setCeiling(c.Concurrency)
	}
	if tighter(&p.stated.RequestsPerMinute, c.RequestsPerMinute) {
		p.pace.requests.set(c.RequestsPerMinute)
	}
	if tighter(&p.stated.TokensPerMinute, c.TokensPerMinute) {
		p.pace.tokens.set(c.TokensPerMinute)
	}
}

// tighter puts a limit in the place of a wider one, or of none.
func tighter(have *int, stated int) bool {
	if stated == 0 || *have != 0 && *have <= stated {
		return false
	}
	*have = stated
	return true
}

// leave is told by each client once.
func (e *Endpoints) leave(p *endpoint) {
	if e != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
	}
	if p.users--; p.users == 0 {
		p.limit.close()
	}
}
