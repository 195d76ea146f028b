package llm

import (
	"context"
	"time"
)

// Attempt is one try at a request that brought no reply, by an engine that may try again.
type Attempt struct {
	// Asked is when it was sent, Took how long it took.
	Asked time.Time
	Took  time.Duration
	// Status is that of HTTP; 0 if there was none.
	Status int
	// Err says what went wrong. Its text holds no credential.
	Err error
}

type attemptsKey struct{}

// watch is told of the attempts of one Do, or of one request of it.
type watch struct {
	tell    func(request int, a Attempt)
	request int
}

// WithAttempts returns a context under which [Engine.Do] tells of each attempt that failed, with the place of
// the request among those that it was asked. tell is called from many goroutines, and not after Do returned.
// Engines that never try again tell nothing.
func WithAttempts(ctx context.Context, tell func(request int, a Attempt)) context.Context {
	return context.WithValue(ctx, attemptsKey{}, watch{tell: tell})
}

// AtRequest is for engines: it returns a context whose attempts are those of a request of Do by its place.
func AtRequest(ctx context.Context, request int) context.Context {
	w, ok := ctx.Value(attemptsKey{}).(watch)
	if !ok {
		return ctx
	}
	w.request = request
	return context.WithValue(ctx, attemptsKey{}, w)
}

// TellAttempt is for engines: it tells whoever watches of an attempt at the request of ctx.
func TellAttempt(ctx context.Context, a Attempt) {
	if w, ok := ctx.Value(attemptsKey{}).(watch); ok {
		w.tell(w.request, a)
	}
}
