package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/credence-lab/credence/llm"
)

// Key identifies a call: the SHA-256 of its declared identity, see [KeyOf].
type Key [sha256.Size]byte

// String returns the key in 64 lower-case hex digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ParseKey reads 64 hex digits.
func ParseKey(s string) (Key, error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(Key{}) {
		return Key{}, fmt.Errorf("%q is no key: a key has %d hex digits", s, 2*len(Key{}))
	}
	return Key(b), nil
}

// KeyOf returns the key of a call: the SHA-256 over these lines, each ended by a line feed,
//
//	credence call 1
//	{the model's identity as JSON}
//	{the request as JSON, see Canonical}
//	generation number
//
// JSON is that of encoding/json on the declared structs: fields in the order of declaration, map
// keys sorted, zero values of optional fields left out. A field that is added later with omitempty
// therefore leaves the keys of all calls that do not use it as they were.
//
// Generation 0 is the first time that a call is made. A call that is deliberately asked again, such
// as after a refusal, has the next generation; the old one stays.
//
// It returns an error for a request that has no JSON form without loss: text that is not valid
// UTF-8, or a decoding number that is infinite or not a number.
func KeyOf(model llm.Identity, r llm.Request, generation int) (Key, error) {
	declared, err := declare(model)
	if err != nil {
		return Key{}, err
	}
	return keyOf(declared, r, generation)
}

// keyOf is KeyOf for an identity that is already in its JSON form.
func keyOf(declared []byte, r llm.Request, generation int) (Key, error) {
	asked, err := declare(Canonical(r))
	if err != nil {
		return Key{}, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "credence call 1\n%s\n%s\n%d\n", declared, asked, generation)
	return Key(h.Sum(nil)), nil
}

// Canonical returns r without what cannot change the reply, so that equal calls have equal keys:
//
//   - Score, Embed and Entail take no decoding, details, seed or sample.
//   - At temperature 0, seed and sample select nothing. (A server that is not reproducible at
//     temperature 0 is asked once all the same: its first reply is the study's.)
//   - TopP 1 and RepetitionPenalty 1 mean none, as 0 does.
//   - Usual only feeds a plan.
//
// Every other field is in the key, among them each decoding field, the seed and the sample number.
func Canonical(r llm.Request) llm.Request {
	r.Usual = ""
	if r.Kind != llm.Generate {
		r.Decoding, r.Details = llm.Decoding{}, llm.Details{}
	}
	if r.Decoding.Temperature == 0 {
		r.Decoding.Temperature = 0 // minus zero
		r.Seed, r.Sample = 0, 0
	}
	if r.Decoding.TopP == 1 {
		r.Decoding.TopP = 0
	}
	if r.Decoding.RepetitionPenalty == 1 {
		r.Decoding.RepetitionPenalty = 0
	}
	return r
}

var errNotUTF8 = errors.New("text is not valid UTF-8; convert the source file to UTF-8")

// declare is json.Marshal, but refuses text that JSON would change.
func declare(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("request cannot be written down: %w", err)
	}
	if replacedByte(b) {
		return nil, errNotUTF8
	}
	if len(b) > maxBytes {
		return nil, fmt.Errorf("request of %d bytes is larger than a ledger takes (%d)", len(b), maxBytes)
	}
	return b, nil
}

// replacedByte reports whether encoding/json met a byte that is no UTF-8. It writes each such byte
// as the escape \ufffd, where the character U+FFFD itself stands unescaped. An escape is one only
// after an even number of backslashes.
func replacedByte(b []byte) bool {
	for rest := b; ; {
		i := bytes.Index(rest, []byte(`\ufffd`))
		if i < 0 {
			return false
		}
		before := len(rest[:i]) - len(bytes.TrimRight(rest[:i], `\`))
		if before%2 == 0 {
			return true
		}
		rest = rest[i+len(`\ufffd`):]
	}
}
