package bayes_test

import (
	"math"
	"testing"

	"github.com/credence-lab/credence/bayes"
	"github.com/credence-lab/credence/measure"
)

func near(t *testing.T, what string, got measure.Value, want, tolerance float64) {
	t.Helper()
	x, ok := got.Get()
	if !ok || math.Abs(x-want) > tolerance*max(1, math.Abs(want)) {
		t.Errorf("%s is %v (%s), want %v", what, x, got.Reason(), want)
	}
}

func TestDiagnosticsAreThoseOfArviz(t *testing.T) {
	t.Parallel()
	var file struct {
		Cases []struct {
			Name       string
			Series     bayes.Series
			RHat       float64 `json:"r_hat"`
			RHatSplit  float64 `json:"r_hat_split"`
			RHatWhole  float64 `json:"r_hat_whole"`
			ESSBulk    float64 `json:"ess_bulk"`
			ESSTail    float64 `json:"ess_tail"`
			MCSE       float64
			HDI, HDI50 []float64
		}
	}
	read(t, "diagnostics.json", &file)
	if len(file.Cases) < 12 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			near(t, "R-hat", bayes.RHat(c.Series), c.RHat, 1e-9)
			near(t, "split classic R-hat", bayes.ClassicRHat(c.Series, true), c.RHatSplit, 1e-9)
			near(t, "classic R-hat", bayes.ClassicRHat(c.Series, false), c.RHatWhole, 1e-9)
			near(t, "bulk ESS", bayes.BulkESS(c.Series), c.ESSBulk, 1e-9)
			near(t, "tail ESS", bayes.TailESS(c.Series), c.ESSTail, 1e-9)
			near(t, "MCSE", bayes.MCSE(c.Series), c.MCSE, 1e-9)
			e := bayes.Summarise("x", c.Series, 1)
			if iv := e.Mean.Interval; iv.Lower != c.HDI[0] || iv.Upper != c.HDI[1] {
				t.Errorf("95 %% highest density is [%v, %v], want %v", iv.Lower, iv.Upper, c.HDI)
			}
			if iv := e.Half; iv.Lower != c.HDI50[0] || iv.Upper != c.HDI50[1] {
				t.Errorf("50 %% highest density is [%v, %v], want %v", iv.Lower, iv.Upper, c.HDI50)
			}
		})
	}
}

// Case B01: the numbers 1 to 100 in order. Without splitting, R-hat is sqrt(99/100) whatever the data,
// since one chain has nothing to differ from; its halves have means 25.5 and 75.5 and variances 212.5,
// so that R-hat is sqrt((49/50·212.5 + 1250)/212.5).
func TestRHatOfOneChainSeesItsTrend(t *testing.T) {
	t.Parallel()
	trend := bayes.Series{make([]float64, 100)}
	for i := range trend[0] {
		trend[0][i] = float64(i + 1)
	}
	if got := bayes.ClassicRHat(trend, false); got.Defined() || got.Reason() != measure.TooFew {
		t.Errorf("whole: %+v", got)
	}
	near(t, "split", bayes.ClassicRHat(trend, true), math.Sqrt((49./50*212.5+1250)/212.5), 1e-12)
	if x, _ := bayes.RHat(trend).Get(); x < 1.5 {
		t.Errorf("rank-normalised R-hat of a trend is %v", x)
	}
}

// Case B02: two chains that stand still at different places have no effective draws, and the fit that
// they come from has no values.
func TestFrozenChainsAreRefused(t *testing.T) {
	t.Parallel()
	s := bayes.Series{make([]float64, 500), make([]float64, 500)}
	for i := range s[0] {
		s[0][i], s[1][i] = .2, .7
	}
	e := bayes.Summarise("x", s, 3)
	for _, v := range []measure.Value{e.RHat, e.BulkESS, e.TailESS, e.MCSE, bayes.ClassicRHat(s, true), bayes.ClassicRHat(s, false)} {
		if v.Defined() || v.Reason() != bayes.Frozen {
			t.Errorf("%s of frozen chains: %+v", v.Method, v)
		}
	}
	c := bayes.Assess(nil, 500, []*bayes.Estimate{&e})
	if c.Verdict != bayes.Refused || len(c.Warnings) == 0 || c.Warnings[0].Code != "frozen-chain" {
		t.Errorf("%+v", c)
	}
	for _, v := range []measure.Value{e.Mean, e.Median, e.SD} {
		if v.Defined() || v.Reason() != bayes.Frozen || v.N != 3 || len(v.Warnings) == 0 {
			t.Errorf("refused fit gives %+v", v)
		}
	}
	if e.Half != nil {
		t.Error("refused fit gives an interval")
	}
}

// One chain of four that stands still hides in the variance of the others.
func TestOneFrozenChainIsSeen(t *testing.T) {
	t.Parallel()
	s := bayes.Series{make([]float64, 200), make([]float64, 200)}
	for i := range s[0] {
		s[0][i] = math.Sin(float64(i) * 12.9898)
	}
	if got := bayes.RHat(s); got.Reason() != bayes.Frozen {
		t.Errorf("%+v", got)
	}
}

func TestDoubtIsPassedOnWithEveryValue(t *testing.T) {
	t.Parallel()
	apart := bayes.Series{make([]float64, 500), make([]float64, 500)}
	for i := range apart[0] {
		apart[0][i], apart[1][i] = math.Sin(float64(i)*12.9898), 3+math.Sin(float64(i)*78.233)
	}
	for _, c := range []struct {
		code   string
		series bayes.Series
		chains []bayes.ChainReport
	}{
		{"r-hat", apart, nil},
		{"low-ess", bayes.Series{apart[0][:80], apart[0][100:180]}, nil},
		{"divergences", apart[:1], []bayes.ChainReport{{Divergences: 1, EBFMI: measure.Of("e-bfmi", 1, 500)}}},
		{"max-depth", apart[:1], []bayes.ChainReport{{Deepest: 6, EBFMI: measure.Of("e-bfmi", 1, 500)}}},
		{"low-e-bfmi", apart[:1], []bayes.ChainReport{{EBFMI: measure.Of("e-bfmi", .29, 500)}}},
		{"no-diagnostics", bayes.Series{{1, 2, 3}}, nil},
	} {
		e := bayes.Summarise("x", c.series, 3)
		got := bayes.Assess(c.chains, 500, []*bayes.Estimate{&e})
		if got.Verdict != bayes.Doubtful {
			t.Errorf("%s: verdict is %s", c.code, got.Verdict)
		}
		for _, v := range []measure.Value{e.Mean, e.Median, e.SD} {
			found := false
			for _, w := range v.Warnings {
				found = found || w.Code == c.code
			}
			if !found || !v.Defined() {
				t.Errorf("%s: %s carries %+v", c.code, v.Method, v.Warnings)
			}
		}
	}
}
