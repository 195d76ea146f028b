package llm

import "context"

type stopKey struct{}

// Finishing returns ctx as one under which an engine finishes what it has begun when stop ends, and begins
// nothing more: requests to a server that were sent are waited for, those that wait for their turn or for
// another attempt have the error of stop. An engine that cannot tell the two apart finishes all that it was
// asked. The end of ctx itself ends everything, and should not come before that of stop.
func Finishing(ctx, stop context.Context) context.Context {
	return context.WithValue(ctx, stopKey{}, stop)
}

// Stop is for engines: it returns the context whose end says that nothing more is to be begun, which is ctx
// itself unless it is one of [Finishing].
func Stop(ctx context.Context) context.Context {
	if stop, ok := ctx.Value(stopKey{}).(context.Context); ok {
		return stop
	}
	return ctx
}
