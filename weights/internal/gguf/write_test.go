package gguf

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

// The bytes were written down by hand from the GGUF specification.
func TestForm(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	err := Write(&b, []Pair{
		{"s", "ab"}, {"t", true}, {"f", false}, {"u", uint32(7)}, {"e", float32(1)},
		{"l", []string{"x", ""}}, {"i", []int32{-1, 2}},
	}, []Tensor{
		{"v", []int64{3}, strings.NewReader("AAAABBBBCCCC")},
		{"m", []int64{2, 1}, strings.NewReader("DDDDEEEE")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"47475546 03000000 0200000000000000 0700000000000000",
		"0100000000000000 73 08000000 0200000000000000 6162",
		"0100000000000000 74 07000000 01",
		"0100000000000000 66 07000000 00",
		"0100000000000000 75 04000000 07000000",
		"0100000000000000 65 06000000 0000803f",
		"0100000000000000 6c 09000000 08000000 0200000000000000 0100000000000000 78 0000000000000000",
		"0100000000000000 69 09000000 05000000 0200000000000000 ffffffff 02000000",
		"0100000000000000 76 01000000 0300000000000000 00000000 0000000000000000",
		"0100000000000000 6d 02000000 0200000000000000 0100000000000000 00000000 2000000000000000",
	}, " ")
	head, err := hex.DecodeString(strings.ReplaceAll(want, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	head = append(head, make([]byte, (32-len(head)%32)%32)...)
	whole := string(head) + "AAAABBBBCCCC" + strings.Repeat("\x00", 20) + "DDDDEEEE" + strings.Repeat("\x00", 24)
	if b.String() != whole {
		t.Errorf("wrote\n%x, want\n%x", b.String(), whole)
	}
}

func TestDataOfAnotherSizeIsAnError(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "AAA", "AAAAA"} {
		err := Write(&bytes.Buffer{}, nil, []Tensor{{"v", []int64{1}, strings.NewReader(data)}})
		if err == nil || !strings.Contains(err.Error(), "tensor v") {
			t.Errorf("%d bytes for one number: %v", len(data), err)
		}
	}
	broken := errors.New("the disk is gone")
	if err := Write(&bytes.Buffer{}, nil, []Tensor{{"v", []int64{1}, iotest.ErrReader(broken)}}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if err := Write(&bytes.Buffer{}, []Pair{{"k", 1}}, nil); err == nil {
		t.Error("an int was written")
	}
}
