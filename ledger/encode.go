package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// A reply is stored as
//
//	form      1 byte: 4, or 3 where the checksum leaves out what the call took
//	body      see below
//	checksum  8 bytes, the first of a SHA-256 over the body and the rest of the call, see binding
//
// so that a reply is found to be damaged, too, if another call, another reason to finish or another prompt's
// ids stand beside it. Ledgers of schema version 1 have the body and the CRC-32C of it, 4 bytes, little endian;
// their calls stay as they are. The body is
//
//	version   1 byte: 1, 2 with an embedding, or 5 with details
//	flags     1 byte
//	n         uvarint, number of tokens
//	log-probabilities   n times 8 bytes: the bits of a float64, little endian
//	d         uvarint, number of dimensions, at least 1; only in version 2
//	embedding d times 4 bytes: the bits of a float32, little endian; only in version 2
//	details   see details.go; only in version 5
//	rest      packed (see packer): n token ids and n piece lengths as uvarints,
//	          the text's length as uvarint unless textIsPieces, the pieces,
//	          the text unless it begins the pieces
//
// What else belongs to a reply has columns of its own: it is equal for many calls.
//
// Versions 2 and 5 came later. A reply without embedding and details is written as it always was, and a program
// that knows version 1 alone says of the others and of forms 3 and 4 that they are later than itself.
const (
	replyVersion       = 1
	replyWithEmbedding = 2
	replyBound         = 3
	replyBoundWithUse  = 4
	replyWithDetails   = 5
)

const (
	flagReproducible = 1 << iota
	// textIsPieces: the text is the pieces, joined. The usual case.
	textIsPieces
	// textBeginsPieces: the text is the start of the joined pieces, cut before a stop string.
	textBeginsPieces
)

// maxBytes bounds a prompt and a reply, so that no file makes a reader allocate without end.
const maxBytes = 64 << 20

var (
	castagnoli    = crc32.MakeTable(crc32.Castagnoli)
	errChecksum   = errors.New("checksum does not fit")
	errTruncated  = errors.New("data ends early")
	errNewVersion = errors.New("written in a later form")
)

// binding is what else belongs to a call, as the file has it. What was asked is in the key.
type binding struct {
	key          []byte
	kind, finish string
	// ids as encodeIDs writes them, nil where the prompt's ids are not known; observed as JSON, or empty.
	ids         []byte
	observed    string
	asked, took int64
	used        llm.Usage
}

// sum is the checksum of a reply's body as part of its call.
func (b *binding) sum(form byte, body []byte) []byte {
	head := make([]byte, 0, 160)
	for _, part := range [][]byte{body, b.key, []byte(b.kind), []byte(b.finish), b.ids, []byte(b.observed)} {
		head = binary.AppendUvarint(head, uint64(len(part)))
	}
	if b.ids == nil {
		head = append(head, 0)
	}
	head = binary.AppendVarint(binary.AppendVarint(head, b.asked), b.took)
	if form == replyBoundWithUse {
		for _, n := range []int64{b.used.Prompt, b.used.Cached, b.used.Generated} {
			head = binary.AppendVarint(head, n)
		}
	}
	head = append(append(append(append(head, b.key...), b.kind...), b.finish...), b.observed...)
	h := sha256.New()
	_, _ = h.Write(head)
	_, _ = h.Write(b.ids)
	_, _ = h.Write(body)
	return h.Sum(head[:0])[:sumBytes]
}

const sumBytes = 8

// bind writes the body of a reply as part of its call.
func (b *binding) bind(body []byte) []byte {
	bound := append(make([]byte, 0, 1+len(body)+sumBytes), replyBoundWithUse)
	return append(append(bound, body...), b.sum(replyBoundWithUse, body)...)
}

// bodyOf takes a stored reply apart and checks it as far as its form allows.
func (b *binding) bodyOf(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != replyBound && stored[0] != replyBoundWithUse {
		return unseal(stored)
	}
	if len(stored) < 1+sumBytes {
		return nil, errTruncated
	}
	body, sum := stored[1:len(stored)-sumBytes], stored[len(stored)-sumBytes:]
	if !bytes.Equal(sum, b.sum(stored[0], body)) {
		return nil, errChecksum
	}
	return body, nil
}

// encodeReply writes the body: tokens, text, embedding and the reproducible flag of r.
func encodeReply(r llm.Reply) []byte {
	var pieces []byte
	for _, t := range r.Tokens {
		pieces = append(pieces, t.Piece...)
	}
	var flags byte
	if r.Reproducible {
		flags |= flagReproducible
	}
	switch joined := string(pieces); {
	case r.Text == joined:
		flags |= textIsPieces
	case strings.HasPrefix(joined, r.Text):
		flags |= textBeginsPieces
	}
	version := byte(replyVersion)
	if len(r.Embedding) > 0 {
		version = replyWithEmbedding
	} else if r.Told != nil {
		version = replyWithDetails
	}
	b := append(make([]byte, 0, 24+10*len(r.Tokens)+4*len(r.Embedding)+len(pieces)), version, flags)
	b = binary.AppendUvarint(b, uint64(len(r.Tokens)))
	for _, t := range r.Tokens {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(t.LogProb))
	}
	if version == replyWithEmbedding {
		b = binary.AppendUvarint(b, uint64(len(r.Embedding)))
		for _, x := range r.Embedding {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	if version == replyWithDetails {
		b = appendTold(b, r.Told)
	}
	return append(b, shared.pack(encodeRest(r, flags, pieces))...)
}

func encodeRest(r llm.Reply, flags byte, pieces []byte) []byte {
	b := make([]byte, 0, 4*len(r.Tokens)+len(pieces)+len(r.Text)+8)
	for _, t := range r.Tokens {
		b = appendID(b, t.ID)
	}
	for _, t := range r.Tokens {
		b = binary.AppendUvarint(b, uint64(len(t.Piece)))
	}
	if flags&textIsPieces == 0 {
		b = binary.AppendUvarint(b, uint64(len(r.Text)))
	}
	b = append(b, pieces...)
	if flags&(textIsPieces|textBeginsPieces) == 0 {
		b = append(b, r.Text...)
	}
	return b
}

// decodeReply is the inverse of encodeReply. It trusts nothing: b may come from a damaged file.
func decodeReply(b []byte) (llm.Reply, error) {
	if len(b) < 2 {
		return llm.Reply{}, errTruncated
	}
	version, flags := b[0], b[1]
	if version != replyVersion && version != replyWithEmbedding && version != replyWithDetails {
		return llm.Reply{}, fmt.Errorf("reply has form %d: %w", version, errNewVersion)
	}
	in := reader{b: b[2:]}
	n := in.count(8)
	logProbs := in.take(8 * n)
	var embedding []float32
	if version == replyWithEmbedding {
		embedding = in.embedding()
	}
	var told *llm.Told
	if version == replyWithDetails {
		told = in.told(n)
	}
	rest, err := shared.unpack(in.b)
	if err := errors.Join(in.err, err); err != nil {
		return llm.Reply{}, err
	}
	r := llm.Reply{Reproducible: flags&flagReproducible != 0, Embedding: embedding, Told: told}
	if n > 0 {
		r.Tokens = make([]record.Token, n)
	}
	for i := range r.Tokens {
		r.Tokens[i].LogProb = math.Float64frombits(binary.LittleEndian.Uint64(logProbs[8*i:]))
	}
	return r, decodeRest(&r, flags, rest)
}

func decodeRest(r *llm.Reply, flags byte, rest []byte) error {
	in := reader{b: rest}
	for i := range r.Tokens {
		r.Tokens[i].ID = in.id()
	}
	lengths := make([]int, len(r.Tokens))
	total := 0
	for i := range lengths {
		lengths[i] = in.count(1)
		total = min(total+lengths[i], len(rest)+1)
	}
	textLength := total // textIsPieces
	if flags&textIsPieces == 0 {
		textLength = in.count(1)
	}
	pieces := in.take(total)
	text := pieces
	if flags&(textIsPieces|textBeginsPieces) == 0 {
		text = in.take(textLength)
	}
	if in.err != nil || textLength > len(text) || len(in.b) > 0 {
		return errors.Join(errTruncated, in.err)
	}
	r.Text = string(text[:textLength])
	for i, n := range lengths {
		if n > 0 {
			r.Tokens[i].Piece, pieces = pieces[:n:n], pieces[n:]
		}
	}
	return nil
}

// encodeIDs writes the ids of a prompt's tokens: their number and each of them as uvarints, and a
// checksum. It is packed when it is stored.
func encodeIDs(ids []int32) []byte {
	b := binary.AppendUvarint(make([]byte, 0, 3*len(ids)+8), uint64(len(ids)))
	for _, id := range ids {
		b = appendID(b, id)
	}
	return seal(b)
}

// appendID writes an id as the uvarint of its 32 bits: ids below 0, which no vocabulary has, take five bytes.
func appendID(b []byte, id int32) []byte { return binary.AppendUvarint(b, uint64(uint32(id))) }

// decodeIDs is the inverse of encodeIDs; its result is never nil without an error.
func decodeIDs(b []byte) ([]int32, error) {
	b, err := unseal(b)
	if err != nil {
		return nil, err
	}
	in := reader{b: b}
	ids := make([]int32, in.count(1))
	for i := range ids {
		ids[i] = in.id()
	}
	if in.err != nil || len(in.b) > 0 {
		return nil, errors.Join(errTruncated, in.err)
	}
	return ids, nil
}

// seal appends a checksum, unseal takes it off.
func seal(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func unseal(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, errTruncated
	}
	body := b[:len(b)-4]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(b[len(body):]) {
		return nil, errChecksum
	}
	return body, nil
}

// reader takes values off the front of b. After the first error it gives zeros.
type reader struct {
	b   []byte
	err error
}

// count reads a number of things that take at least size bytes each, so at most what is left.
func (r *reader) count(size int) int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > uint64((len(r.b)-n)/size) {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

func (r *reader) id() int32 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > math.MaxUint32 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return int32(uint32(v))
}

// embedding reads at least one number: a reply without any has version 1.
func (r *reader) embedding() []float32 {
	bits := r.take(4 * r.count(4))
	if len(bits) == 0 {
		r.fail()
		return nil
	}
	out := make([]float32, len(bits)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(bits[4*i:]))
	}
	return out
}

func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.fail()
		return nil
	}
	head := r.b[:n:n]
	r.b = r.b[n:]
	return head
}

func (r *reader) fail() {
	r.b = nil
	if r.err == nil {
		r.err = errTruncated
	}
}
