package study_test

import (
	"strings"
	"testing"

	"github.com/credence-lab/credence/study"
)

func TestSizesOfMemory(t *testing.T) {
	t.Parallel()
	for size, want := range map[string]int64{"": 0, "2GB": 2e9, "1.5 GB": 15e8, "1GiB": 1 << 30, "900mb": 9e8, "123": 123} {
		if got, err := study.ParseMemory(size); err != nil || got != want {
			t.Errorf("%q is %d (%v), want %d", size, got, err, want)
		}
	}
	for _, size := range []string{"0", "0GB", "-1GB", "much", "2 XB", "99999999999EB", "NaN", "1e9"} {
		if got, err := study.ParseMemory(size); err == nil {
			t.Errorf("%q was taken for %d bytes", size, got)
		}
	}
}

func TestABoundOnMemoryInTheFile(t *testing.T) {
	t.Parallel()
	f, err := study.Parse("s.yaml", []byte(strings.Replace(minimal, "weights: w", "weights: w\n  memory: 2000000000\n  gpu_layers: 3", 1)))
	if err != nil || f.Models[0].Memory != "2000000000" || f.Models[0].GPULayers != 3 {
		t.Errorf("%+v, %v", f, err)
	}
	_, err = study.Parse("s.yaml", []byte(strings.Replace(minimal, "weights: w", "weights: w\n  memory: big", 1)))
	if err == nil || !strings.Contains(err.Error(), `s.yaml:4:11: memory "big" is no size`) {
		t.Errorf("error %v", err)
	}
}
