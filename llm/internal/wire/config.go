package wire

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config says which server is asked, and how hard. URL is needed; the zero value of all else is a choice that
// is documented with it.
type Config struct {
	// URL of the server; a trailing "/v1" is understood. No credentials.
	URL string
	// Key is sent as a bearer token, if there is one.
	Key Key
	// Concurrency is the most requests in flight; 0 is 32.
	Concurrency int
	// RequestsPerMinute and TokensPerMinute pace what is sent; 0 is no limit.
	RequestsPerMinute, TokensPerMinute int
	// Endpoints are shared with the other clients of a study; nil shares nothing.
	Endpoints *Endpoints
	// Attempts is the most times that one request is sent; 0 is 6.
	Attempts int
	// Timeout bounds one attempt, 0 is 5 minutes; Deadline bounds all attempts of a request and the
	// pauses between them, 0 is 30 minutes.
	Timeout, Deadline time.Duration
	// OnAttempt is told of each attempt that brought no usable answer; may be nil. It is called from many
	// goroutines.
	OnAttempt func(Attempt)
	// Transport replaces the connection to the server, for proxies and tests; nil takes Go's default, which
	// honours HTTPS_PROXY and the system's certificates.
	Transport http.RoundTripper
}

// ConfigError says what is wrong with a [Config] or a [Key].
type ConfigError struct{ What string }

func (e *ConfigError) Error() string { return e.What }

// BadInput tells a command that what the user wrote is at fault.
func (e *ConfigError) BadInput() bool { return true }

// DefaultConcurrency is the most requests in flight where nobody states it.
const DefaultConcurrency = 32

const (
	maxConcurrency  = 4096
	defaultAttempts = 6
	defaultTimeout  = 5 * time.Minute
	defaultDeadline = 30 * time.Minute
)

// settle fills the defaults in and checks the rest. The base URL has no trailing slash and no "/v1".
func (c Config) settle() (Config, *url.URL, error) {
	wrong := func(format string, args ...any) (Config, *url.URL, error) {
		return c, nil, &ConfigError{fmt.Sprintf(format, args...)}
	}
	base, err := baseURL(c.URL)
	if err != nil {
		return c, nil, err
	}
	if c.RequestsPerMinute < 0 || c.TokensPerMinute < 0 || c.Concurrency < 0 || c.Attempts < 0 || c.Timeout < 0 || c.Deadline < 0 {
		return wrong("limits must not be negative")
	}
	if c.Concurrency > maxConcurrency {
		return wrong("%d requests in flight are more than %d", c.Concurrency, maxConcurrency)
	}
	setDefault(&c.Concurrency, DefaultConcurrency)
	setDefault(&c.Attempts, defaultAttempts)
	setDefault(&c.Timeout, defaultTimeout)
	setDefault(&c.Deadline, defaultDeadline)
	return c, base, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// baseURL reads the address of a server. Messages do not repeat it: someone may have put a key into it.
func baseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, &ConfigError{"no URL of the server"}
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return nil, &ConfigError{"the URL of the server is not of the form http://HOST:PORT or https://HOST"}
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, &ConfigError{"the URL of the server holds more than an address; a key comes from the environment or a file"}
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1")
	u.RawPath = ""
	return u, nil
}
