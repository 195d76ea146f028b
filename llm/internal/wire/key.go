package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Key is a credential. It prints as whether it is set, whatever the verb, and has no JSON form but that.
type Key struct{ secret string }

// KeyFromEnv reads the variable name. It is an error if that is not set: a study that names a key needs it.
func KeyFromEnv(name string) (Key, error) {
	value := strings.TrimSpace(os.Getenv(name))
	if value == "" {
		return Key{}, &ConfigError{fmt.Sprintf("the key is to come from the environment, but %s is not set", name)}
	}
	return newKey(value, "environment variable "+name)
}

// maxKeyBytes bounds a key file: what is longer is another file.
const maxKeyBytes = 16 << 10

// KeyFromFile reads the key from a file that holds nothing else.
func KeyFromFile(path string) (Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return Key{}, &ConfigError{fmt.Sprintf("key file: %v", err)}
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxKeyBytes+1))
	if err != nil {
		return Key{}, &ConfigError{fmt.Sprintf("key file: %v", err)}
	}
	return newKey(strings.TrimSpace(string(raw)), "key file "+path)
}

func newKey(value, from string) (Key, error) {
	switch {
	case value == "":
		return Key{}, &ConfigError{from + " is empty"}
	case len(value) > maxKeyBytes:
		return Key{}, &ConfigError{from + " is too long to be a key"}
	case strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }):
		return Key{}, &ConfigError{from + " holds blanks or characters that no key has"}
	}
	return Key{value}, nil
}

// String says whether there is a key.
func (k Key) String() string {
	if k.secret == "" {
		return "(no key)"
	}
	return "(key)"
}

// GoString keeps the key out of %#v.
func (k Key) GoString() string { return k.String() }

// Format keeps the key out of every verb.
func (k Key) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, k.String()) }

// MarshalText keeps the key out of JSON and YAML.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText refuses: a key that can be read from a file of settings ends up in one.
func (k *Key) UnmarshalText([]byte) error {
	return errors.New("a key is read from the environment or from a file of its own")
}

// hideBytes is hide for an answer.
func (k Key) hideBytes(answer []byte) []byte {
	if len(k.secret) < minHidden || !bytes.Contains(answer, []byte(k.secret)) {
		return answer
	}
	return bytes.ReplaceAll(answer, []byte(k.secret), []byte("(key)"))
}

// minHidden is the length of a key that no other word is: a shorter one would take everything out.
const minHidden = 4

// hide takes the key out of text that a server may have echoed.
func (k Key) hide(text string) string {
	if len(k.secret) < minHidden {
		return text
	}
	return strings.ReplaceAll(text, k.secret, "(key)")
}
