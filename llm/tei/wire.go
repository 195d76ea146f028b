package tei

import "github.com/credence-lab/credence/llm/internal/wire"

// What package wire says of connections, under the names that users of this package need.
type (
	// Key is a credential: from the environment or a file, and printed as whether it is set.
	Key = wire.Key
	// Error is an attempt that brought no usable answer. Its text holds no credential and is one line.
	Error = wire.Error
	// Attempt is one try that brought no usable answer.
	Attempt = wire.Attempt
	// ConfigError says what is wrong with a [Config] or a [Key].
	ConfigError = wire.ConfigError
)

// KeyFromEnv reads a key from the environment variable name; it is an error if that is not set.
func KeyFromEnv(name string) (Key, error) { return wire.KeyFromEnv(name) }

// KeyFromFile reads a key from a file that holds nothing else.
func KeyFromFile(path string) (Key, error) { return wire.KeyFromFile(path) }
