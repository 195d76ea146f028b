package openai

import (
	"context"

	"github.com/credence-lab/credence/llm/internal/wire"
)

// What package wire says of connections, under the names that users of this package need.
type (
	// Key is a credential: from the environment or a file, and printed as whether it is set.
	Key = wire.Key
	// Error is an attempt that brought no usable answer. Its text holds no credential and is one line.
	Error = wire.Error
	// Kind says what went wrong with one attempt, and with it whether another may go better.
	Kind = wire.Kind
	// Attempt is one try that brought no usable answer.
	Attempt = wire.Attempt
	// ConfigError says what is wrong with a [Config] or a [Key].
	ConfigError = wire.ConfigError
)

// The kinds of an [Error]. The first four are repeated, the others not.
const (
	Unreachable  = wire.Unreachable
	Busy         = wire.Busy
	Failing      = wire.Failing
	Malformed    = wire.Malformed
	Exhausted    = wire.Exhausted
	Unauthorised = wire.Unauthorised
	Refused      = wire.Refused
)

// DefaultConcurrency is the most requests in flight where nobody states it.
const DefaultConcurrency = wire.DefaultConcurrency

// SharingEndpoints returns a context under which engines that are opened at one address share what it bears:
// requests in flight, the wait that the server asks for, and the paces. Of limits that several state the
// smallest holds.
func SharingEndpoints(ctx context.Context) context.Context { return wire.Sharing(ctx) }

// KeyFromEnv reads a key from the environment variable name; it is an error if that is not set.
func KeyFromEnv(name string) (Key, error) { return wire.KeyFromEnv(name) }

// KeyFromFile reads a key from a file that holds nothing else.
func KeyFromFile(path string) (Key, error) { return wire.KeyFromFile(path) }
