package resample_test

import (
	"math"
	"slices"
	"testing"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/resample"
)

func valueOf(t *testing.T, v measure.Value) float64 {
	t.Helper()
	x, ok := v.Get()
	if !ok {
		t.Fatalf("%s is undefined: %s", v.Method, v.Reason())
	}
	return x
}

func threeSettings(t *testing.T, method resample.Method) []*resample.Draws {
	var settings []*resample.Draws
	for s := range uint64(3) {
		token, verbalised, correct := simulated(40+10*int(s), s)
		settings = append(settings, paired(t, correct, [][]float64{token, verbalised}, papers,
			resample.Options{N: 500, Seed: resample.SettingSeed(1, "model", string(rune('a'+s)), "bootstrap"), Method: method}))
	}
	return settings
}

func TestMeanOverSettingsAveragesDrawsFirst(t *testing.T) {
	t.Parallel()
	settings := threeSettings(t, resample.Percentile)
	v, err := resample.MeanOverSettings("gap.auroc", .95, settings, difference(1)...)
	if err != nil {
		t.Fatal(err)
	}
	means, point := make([]float64, 500), 0.
	for _, d := range settings {
		point += valueOf(t, d.Contrast("gap", .95, difference(1)...)) / 3
		for r, x := range d.Resampled(difference(1)...) {
			means[r] += x / 3
		}
	}
	slices.Sort(means)
	within(t, "mean", valueOf(t, v), point, 1e-12)
	within(t, "lower", v.Interval.Lower, resample.Quantile(means, .025), 1e-12)
	within(t, "upper", v.Interval.Upper, resample.Quantile(means, .975), 1e-12)
	if v.N != 40+50+60 || v.Method != "gap.auroc" {
		t.Errorf("%s over n = %d", v.Method, v.N)
	}
}

func TestBCaOfAMeanOverOneSettingIsThatOfTheSetting(t *testing.T) {
	t.Parallel()
	settings := threeSettings(t, resample.BCa)
	mean, err := resample.MeanOverSettings("gap", .9, settings[:1], difference(2)...)
	if err != nil {
		t.Fatal(err)
	}
	own := settings[0].Contrast("gap", .9, difference(2)...)
	if *mean.Interval != *own.Interval {
		t.Errorf("%v, want %v", mean.Interval, own.Interval)
	}
	// Three settings are less skewed than one, but BCa must still exist.
	if all, err := resample.MeanOverSettings("gap", .9, settings, difference(2)...); err != nil || all.Interval == nil {
		t.Errorf("%v, %v", all, err)
	}
}

func TestMeanOverSettingsLeavesOutUndefinedOnes(t *testing.T) {
	t.Parallel()
	settings := threeSettings(t, resample.Percentile)
	oneClass := paired(t, []float64{1, 1}, [][]float64{{.1, .2}, {.3, .4}}, papers, resample.Options{N: 500, Seed: 99})
	v, err := resample.MeanOverSettings("gap", .95, append(settings, oneClass), difference(1)...)
	if err != nil {
		t.Fatal(err)
	}
	without, err := resample.MeanOverSettings("gap", .95, settings, difference(1)...)
	if err != nil {
		t.Fatal(err)
	}
	if valueOf(t, v) != valueOf(t, without) || *v.Interval != *without.Interval || v.N != without.N {
		t.Errorf("%v, want %v", v, without)
	}
	if !slices.Contains(codes(v), "settings-left-out") || v.NLeftOut() != 2 {
		t.Errorf("warnings %v, left out %v", codes(v), v.LeftOut)
	}
	none, err := resample.MeanOverSettings("gap", .95, []*resample.Draws{oneClass}, difference(1)...)
	if err != nil || none.Reason() != measure.OneClass {
		t.Errorf("%v, %v", none, err)
	}
}

func TestMeanOverSettingsRefusesDependentDraws(t *testing.T) {
	t.Parallel()
	settings := threeSettings(t, resample.Percentile)
	if _, err := resample.MeanOverSettings("gap", .95, append(settings, settings[0]), difference(1)...); err == nil {
		t.Error("a setting counted twice")
	}
	token, verbalised, correct := simulated(30, 9)
	fewer := paired(t, correct, [][]float64{token, verbalised}, papers, resample.Options{N: 100, Seed: 9})
	if _, err := resample.MeanOverSettings("gap", .95, append(settings, fewer), difference(1)...); err == nil {
		t.Error("settings with different numbers of resamples were averaged")
	}
}

func TestSettingSeedsAreApart(t *testing.T) {
	t.Parallel()
	seeds := map[uint64][]string{}
	for study := range uint64(3) {
		for _, parts := range [][]string{{"a", "b", "c"}, {"ab", "", "c"}, {"a", "bc", ""}, {"", "ab", "c"}, {"b", "a", "c"}} {
			seed := resample.SettingSeed(study, parts[0], parts[1], parts[2])
			if other, taken := seeds[seed]; taken {
				t.Errorf("%q and %q share a seed", parts, other)
			}
			seeds[seed] = parts
		}
	}
	// Pinned, since a change would change the intervals of every study.
	if got := resample.SettingSeed(1, "model", "data", "bootstrap"); got != pinnedSeed {
		t.Errorf("seed %#x, want %#x", got, uint64(pinnedSeed))
	}
	d := paired(t, []float64{1, 0, 1, 1}, [][]float64{{.1, .2, .3, .4}}, []metric.Statistic{metric.Accuracy()}, resample.Options{N: 6, Seed: 1})
	var right []float64
	for _, x := range d.Resampled(resample.Term{Weight: 4}) {
		right = append(right, math.Round(x))
	}
	if !slices.Equal(right, pinnedDraws) {
		t.Errorf("draws %v, want %v", right, pinnedDraws)
	}
}

const pinnedSeed = 0x36b1df58e5dab70

var pinnedDraws = []float64{3, 3, 3, 2, 2, 4}
