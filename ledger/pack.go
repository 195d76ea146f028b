package ledger

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Texts in a ledger are short and alike, so each is compressed against a dictionary. The shared one
// holds common words, the forms that a prompt takes, and how frequent letters are. It is part of the
// format: what was written with it needs it for ever.
//
// A ledger learns further dictionaries from its own prompts (see sqlite_learn.go): the shared one
// followed by some of them, so that an instruction that all prompts of a study begin with is stored
// once. Those are kept in the ledger.
//
//go:embed dictionary/1.zstd-dictionary
var sharedDictionary []byte

// sharedID is the number of the shared dictionary; those of a ledger have higher ones.
const sharedID = 1

// Forms of a packed text, its first byte.
const (
	formPlain = 0
	// formZstd is a Zstandard frame, which names its dictionary, less the four bytes that begin
	// every frame.
	formZstd = 1
)

// leastPacked is how long a text must be for the shared dictionary. Replies below it become 3 to 5 bytes shorter, and
// to try costs as much as for a page.
const leastPacked = 96

var frameMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// packer compresses against one dictionary. It is safe for concurrent use.
type packer struct {
	in  *zstd.Encoder
	out *zstd.Decoder
}

// shared is the packer of the shared dictionary.
var shared = &lazyPacker{make: sync.OnceValue(func() packer { return must(newPacker(sharedID, nil, runtime.GOMAXPROCS(0))) })}

// lazyPacker spares programs that never pack the time to set up.
type lazyPacker struct{ make func() packer }

func (l *lazyPacker) pack(b []byte) []byte {
	if len(b) < leastPacked {
		return append([]byte{formPlain}, b...)
	}
	return l.make().pack(b)
}

func (l *lazyPacker) unpack(b []byte) ([]byte, error) { return l.make().unpack(b) }

// newPacker returns the packer of the shared dictionary followed by learned.
// Each goroutine that packs at the same time needs tables of half a megabyte, and fewer of them stay nearer to the
// processor.
func newPacker(id uint32, learned []byte, writers int) (packer, error) {
	dictionary := slices.Concat(sharedDictionary, learned)
	binary.LittleEndian.PutUint32(dictionary[4:], id)
	// The checksum is ours (see seal), or the hash of the prompt.
	in, err := zstd.NewWriter(nil, zstd.WithEncoderDict(dictionary), zstd.WithEncoderCRC(false),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(128<<10), zstd.WithEncoderConcurrency(writers))
	if err != nil {
		return packer{}, err
	}
	out, err := zstd.NewReader(nil, zstd.WithDecoderDicts(dictionary), zstd.WithDecoderMaxMemory(4*maxBytes),
		zstd.WithDecoderConcurrency(0))
	return packer{in, out}, err
}

// pack compresses b if that makes it shorter.
func (p packer) pack(b []byte) []byte {
	frame := p.in.EncodeAll(b, make([]byte, 0, len(b)+32))
	if body := len(frame) - len(frameMagic); body < len(b) {
		frame[3] = formZstd
		return frame[3:]
	}
	return append([]byte{formPlain}, b...)
}

// unpack is the inverse of pack, for what the same dictionary packed.
func (p packer) unpack(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errTruncated
	}
	switch b[0] {
	case formPlain:
		return b[1:], nil
	case formZstd:
		plain, err := p.out.DecodeAll(append(frameMagic[:4:4], b[1:]...), nil)
		if err != nil {
			return nil, errors.Join(errTruncated, err)
		}
		return plain, nil
	}
	return nil, fmt.Errorf("text has form %d: %w", b[0], errNewVersion)
}

// dictionaryOf returns the number of the dictionary that a packed text needs; 0 for none.
func dictionaryOf(b []byte) uint32 {
	if len(b) == 0 || b[0] != formZstd {
		return 0
	}
	var h zstd.Header
	if err := h.Decode(append(frameMagic[:4:4], b[1:]...)); err != nil {
		return 0
	}
	return h.DictionaryID
}
