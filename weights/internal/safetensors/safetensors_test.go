package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// file puts a header before data.
func file(header, data string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

const two = `{"__metadata__":{"format":"pt"},` +
	`"b":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]},` +
	`"a":{"dtype":"I16","shape":[2],"data_offsets":[0,4]}}  `

func open(raw []byte) (*File, error) { return Read(bytes.NewReader(raw), int64(len(raw))) }

func TestTensorsAreFoundWhereTheyLie(t *testing.T) {
	t.Parallel()
	f, err := open(file(two, "aabbBBBBCCCC"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		name, kind, data string
		shape            []int64
	}{{"a", "I16", "aabb", []int64{2}}, {"b", "F32", "BBBBCCCC", []int64{2, 1}}} {
		got, ok := f.Tensor(want.name)
		if !ok || got.Type != want.kind || !cmp.Equal(got.Shape, want.shape) {
			t.Errorf("%s: %+v, %v", want.name, got, ok)
		}
		if data, err := io.ReadAll(f.Data(got)); err != nil || string(data) != want.data {
			t.Errorf("%s: data %q, %v; want %q", want.name, data, err, want.data)
		}
	}
	if _, ok := f.Tensor("c"); ok || len(f.Tensors()) != 2 {
		t.Errorf("tensors %v", f.Tensors())
	}
}

func TestEveryCutIsAnError(t *testing.T) {
	t.Parallel()
	whole := file(two, "aabbBBBBCCCC")
	for n := range whole {
		if _, err := open(whole[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut to %d of %d bytes: error %v, want ErrFormat", n, len(whole), err)
		}
	}
}

func TestHostileHeadersAreRefused(t *testing.T) {
	t.Parallel()
	one := func(entry string) string { return `{"a":` + entry + `}` }
	for name, tt := range map[string]struct{ header, want string }{
		"no object":        {`["a"]`, "no JSON object"},
		"two objects":      {`{}{}`, "behind the header"},
		"unknown type":     {one(`{"dtype":"F13","shape":[1],"data_offsets":[0,4]}`), `type "F13"`},
		"unknown field":    {one(`{"dtype":"U8","shape":[4],"data_offsets":[0,4],"more":1}`), "more"},
		"no place":         {one(`{"dtype":"U8","shape":[4]}`), "no place"},
		"too many dims":    {one(`{"dtype":"U8","shape":[4,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}`), "9 dimensions"},
		"negative dim":     {one(`{"dtype":"U8","shape":[-4,-1],"data_offsets":[0,4]}`), "not possible"},
		"shape overflows":  {one(`{"dtype":"U8","shape":[4294967296,4294967296,4],"data_offsets":[0,4]}`), "not possible"},
		"negative offset":  {one(`{"dtype":"U8","shape":[4],"data_offsets":[-4,0]}`), "must have 4 bytes"},
		"backwards":        {one(`{"dtype":"U8","shape":[4],"data_offsets":[4,0]}`), "must have 4 bytes"},
		"other size":       {one(`{"dtype":"F32","shape":[2],"data_offsets":[0,4]}`), "must have 8 bytes"},
		"outside the file": {one(`{"dtype":"U8","shape":[5],"data_offsets":[0,5]}`), "cut off"},
		"huge":             {one(`{"dtype":"U8","shape":[9223372036854775807],"data_offsets":[0,9223372036854775807]}`), "cut off"},
		"hole at the end":  {one(`{"dtype":"U8","shape":[3],"data_offsets":[0,3]}`), "1 bytes behind"},
		"hole between":     {`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}`, `"b" begins at 2`},
		"overlap":          {`{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}`, `"b" begins at 2`},
		"twice":            {`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, `"a" is there twice`},
		"odd metadata":     {`{"__metadata__":{"a":1}}`, "metadata"},
	} {
		_, err := open(file(tt.header, "data"))
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
	long := binary.LittleEndian.AppendUint64(nil, 1<<63)
	if _, err := open(append(long, "{}"...)); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "more than can be") {
		t.Errorf("a length of 2^63: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(two), []byte("aabbBBBBCCCC"))
	f.Add([]byte(`{}`), []byte{})
	f.Fuzz(func(t *testing.T, header, data []byte) {
		raw := file(string(header), string(data))
		s, err := open(raw)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("error %v does not wrap ErrFormat", err)
			}
			return
		}
		var sum int64
		for _, x := range s.Tensors() {
			got, err := io.ReadAll(s.Data(x))
			if err != nil || int64(len(got)) != x.Bytes {
				t.Errorf("%q: %d of %d bytes, %v", x.Name, len(got), x.Bytes, err)
			}
			sum += x.Bytes
		}
		if sum != int64(len(data)) {
			t.Errorf("tensors of %d bytes in data of %d", sum, len(data))
		}
	})
}
