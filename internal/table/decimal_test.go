package table_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-lab/credence/internal/table"
)

// TestDecimalsAreTheNearestFloats: every decimal becomes the float that strconv, which rounds as IEEE 754
// wants it, has for it; most of all those that lie halfway between two floats, or next to that.
func TestDecimalsAreTheNearestFloats(t *testing.T) {
	t.Parallel()
	texts := []string{
		"0", "-0", "0.0", ".5", "5.", "-.5", "00.10", "9999999999999999999", "0.9999999999999999999", "99999999999999999999", "1e5",
		"9007199254740993", "9007199254740992.5", "9007199254740993.0", "9007199254740995", // halfway, and 2^53 + ½
		"0.1", "0.3", "0.30000000000000004", "18014398509481985", "4503599627370496.5", "4503599627370497.5", "0.000000000000000001",
	}
	g := rand.New(rand.NewPCG(3, 4))
	for range 50_000 {
		texts = append(texts, strconv.FormatFloat(g.NormFloat64(), 'f', -1, 64))
		digits := fmt.Sprint(g.Uint64N(1 << g.IntN(64)))
		point := g.IntN(len(digits) + 1)
		texts = append(texts, digits[:point]+"."+digits[point:], strings.Repeat("0", g.IntN(3))+digits)
	}
	for _, text := range texts {
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		got, err := table.ParseFloat([]byte(text))
		if err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%q is read as %v (%v), not as %v", text, got, err, want)
		}
	}
}

func TestWhatIsNoDecimalIsNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "-", ".", "-.", "--1", "1.2.3", "1-", "+-1", "1 2", "0:5", "0/5"} {
		if x, err := table.ParseFloat([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, x)
		}
	}
}
