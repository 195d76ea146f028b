package ledger

import (
	_ "embed"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Texts in a ledger are short and alike, so each is compressed against one shared dictionary of
// common words and of the forms that a prompt takes. The dictionary is part of the format: a text
// written with it needs it for ever. A better one gets a number of its own and a form of its own.
//
//go:embed dictionary/1.zstd-dictionary
var dictionary1 []byte

// Forms of a packed text, its first byte.
const (
	formPlain = 0
	// formZstd1 is a Zstandard frame with dictionary 1, less the four bytes that begin every frame.
	formZstd1 = 1
)

var frameMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

var codec = sync.OnceValue(func() (c struct {
	in  *zstd.Encoder
	out *zstd.Decoder
}) {
	var err error
	// The checksum is ours (see seal), or the hash of the prompt.
	c.in, err = zstd.NewWriter(nil, zstd.WithEncoderDict(dictionary1), zstd.WithEncoderCRC(false),
		zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err)
	}
	c.out, err = zstd.NewReader(nil, zstd.WithDecoderDicts(dictionary1), zstd.WithDecoderMaxMemory(4*maxBytes),
		zstd.WithDecoderConcurrency(0))
	if err != nil {
		panic(err)
	}
	return c
})

// pack compresses b if that makes it shorter.
func pack(b []byte) []byte {
	frame := codec().in.EncodeAll(b, make([]byte, 0, len(b)+32))
	if body := len(frame) - len(frameMagic); body < len(b) {
		frame[3] = formZstd1
		return frame[3:]
	}
	return append([]byte{formPlain}, b...)
}

// unpack is the inverse of pack.
func unpack(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errTruncated
	}
	switch b[0] {
	case formPlain:
		return b[1:], nil
	case formZstd1:
		plain, err := codec().out.DecodeAll(append(frameMagic[:4:4], b[1:]...), nil)
		if err != nil {
			return nil, errors.Join(errTruncated, err)
		}
		return plain, nil
	}
	return nil, fmt.Errorf("text has form %d: %w", b[0], errNewVersion)
}
