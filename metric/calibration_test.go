package metric

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-lab/credence/measure"
	"pgregory.net/rapid"
)

type calibrationGolden struct {
	Cases []struct {
		Name  string
		Input struct{ Conf, Correct []float64 }
		// Expect holds numbers, nulls where there is none, and two objects of numbers.
		Expect map[string]any
	}
}

func mustPrepare(t testing.TB, confidence, quality []float64) *Prepared {
	t.Helper()
	p, err := Prepare(confidence, quality, measure.Confidence)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func byID(t testing.TB, id string) Statistic {
	t.Helper()
	s, err := ByID(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCalibrationMatchesGoldenValues(t *testing.T) {
	t.Parallel()
	var golden calibrationGolden
	readTestdata(t, "calibration.json", &golden)
	for _, c := range golden.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p := mustPrepare(t, c.Input.Conf, c.Input.Correct)
			for _, m := range []struct {
				key, id   string
				tolerance float64
			}{
				{"brier", "brier", 1e-12},
				{"ks_tie_end", "ks", 1e-12},
				{"kde_ece_h0.05", "ece.kde.gaussian.0.05", 1e-12},
				{"relplot_smECE", "smece.relplot-1.0.3", 1e-9},
				{"relplot_smECE_sigma0.05", "smece.relplot-1.0.3.sigma-0.05", 1e-9},
				// The golden values are of a midpoint grid of 8,000, quoted to 1e-6.
				{"smece_definition", "smece", 1e-7},
				{"smece_definition_sigma0.05", "smece.sigma-0.05", 1e-7},
				// The golden values are of a trapezoid of 40,001 points.
				{"smoothed_h09_on_0_1", "ece.smoothed.silverman-0.9", 1e-9},
				{"smoothed_h106_on_0_1", "ece.smoothed.silverman-1.06", 1e-9},
				{"log_loss_sklearn", "log-loss.clip-2.220446049250313e-16", 1e-12},
			} {
				v := byID(t, m.id).On(p)
				if want, defined := c.Expect[m.key].(float64); defined {
					near(t, m.id, v, want, m.tolerance)
				} else if v.Defined() {
					t.Errorf("%s is defined: %+v", m.id, v)
				}
			}
			checkWholeLine(t, p, c.Expect["smoothed_h106_whole_line"])
			checkBandwidths(t, p, c.Expect)
			inOrder, err := KSInInputOrder(c.Input.Conf, c.Input.Correct)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "ks.input-order", inOrder, c.Expect["ks_stable_order"].(float64), 1e-12)
			checkMurphy(t, p, "exact", MurphyExact(p), c.Expect["murphy_exact"].(map[string]any))
			checkMurphy(t, p, "binned", MurphyBinned(p, 10, LeftClosed), c.Expect["murphy_10bins_left"].(map[string]any))
			infinite := int(c.Expect["log_loss_clip"].(map[string]any)["n_clipped_infinite"].(float64))
			if v := LogLoss(0).On(p); v.Defined() != (infinite == 0) {
				t.Errorf("unclipped log loss with %d infinite items: %+v", infinite, v)
			}
			if got := p.clipped(c.Expect["log_loss_clip"].(map[string]any)["eps"].(float64)); got != infinite {
				t.Errorf("%d items clipped, want %d", got, infinite)
			}
		})
	}
}

// checkWholeLine: the golden values stop at -1.5 and 2.5, and are of a trapezoid of 80,001 points, which
// a kernel as narrow as .02 has right to 4e-9.
func checkWholeLine(t *testing.T, p *Prepared, want any) {
	t.Helper()
	v := smoothed("to 2.5", "[-1.5, 2.5]", Plain, -1.5, 2.5).On(p)
	whole := SmoothedWholeLine(Plain).On(p)
	if want, defined := want.(float64); defined {
		near(t, v.Method, v, want, 5e-9)
		x, _ := v.Get()
		if y, _ := whole.Get(); y < x || y > x+2e-5 {
			t.Errorf("on the whole line %v, up to 2.5 %v", y, x)
		}
	} else if v.Defined() || whole.Defined() {
		t.Errorf("%s is defined: %+v", whole.Method, whole)
	}
}

// checkBandwidths compares what the kernel estimators choose, and what of the mass they leave in [0,1].
func checkBandwidths(t *testing.T, p *Prepared, expect map[string]any) {
	t.Helper()
	m := massesOf(p)(p.counts)
	if got, want := relplotBandwidth(m), expect["relplot_sigma"].(float64); got != want {
		t.Errorf("relplot's bandwidth %v, want %v", got, want)
	}
	// The search that the golden values are of ends at 1e-6.
	near(t, "bandwidth of smECE", SmoothECE().On(p), expect["smece_definition_sigma"].(float64), 1e-6)
	h := expect["silverman_h"].(map[string]any)
	for _, rule := range []struct {
		name    Silverman
		h, mass string
	}{
		{Robust, "h09", "smoothed_h09_mass_on_0_1"}, {Plain, "h106", "smoothed_h106_mass_on_0_1"},
	} {
		got, why := m.bandwidth(rule.name)
		if want := h[rule.h].(float64); math.Abs(got-want) > 1e-12 || (why != "") != (want == 0) {
			t.Errorf("%s: bandwidth %v (%s), want %v", rule.name, got, why, want)
		}
		if rule.name == Plain { // scipy.stats takes (4/3)^(1/5) = 1.0592 for 1.06.
			if want := h["h_scipy"].(float64); math.Abs(got*math.Pow(4./3, .2)/1.06-want) > 1e-12 {
				t.Errorf("bandwidth by scipy's factor %v, want %v", got*math.Pow(4./3, .2)/1.06, want)
			}
		}
		v := SmoothedMass(p, rule.name)
		if want, defined := expect[rule.mass].(float64); defined {
			near(t, rule.mass, v, want, 1e-9)
		} else if v.Defined() {
			t.Errorf("%s is defined: %+v", rule.mass, v)
		}
	}
}

func checkMurphy(t *testing.T, p *Prepared, name string, got Murphy, want map[string]any) {
	t.Helper()
	sum := 0.
	for _, part := range []struct {
		key  string
		sign float64
		v    measure.Value
	}{
		{"reliability", 1, got.Reliability}, {"resolution", -1, got.Resolution}, {"uncertainty", 1, got.Uncertainty},
		{"within_variance", 1, got.WithinVariance}, {"within_covariance_x2", -1, got.WithinCovariance},
	} {
		x, _ := part.v.Get()
		sum += part.sign * x
		value, _ := want[part.key].(float64) // terms within bins are 0 in the exact form
		near(t, name+" "+part.key, part.v, value, 1e-12)
	}
	near(t, name+" sum of the parts", Brier().On(p), sum, 1e-14)
}

func TestLogLossStatesItsClip(t *testing.T) { // scikit-learn#6703
	t.Parallel()
	p := mustPrepare(t, []float64{0, 0, 0}, []float64{1, 1, 1})
	v := byID(t, "log-loss.clip-1e-15").On(p)
	near(t, "clipped", v, 34.5388, 5e-5)
	if !slices.ContainsFunc(v.Warnings, func(w measure.Warning) bool {
		return w.Code == "clipped" && strings.Contains(w.Text, "3 of 3")
	}) {
		t.Errorf("warnings %v do not count the clipped items", v.Warnings)
	}
	undefinedAs(t, "unclipped", LogLoss(0).On(p), measure.Infinite)
	sure := mustPrepare(t, []float64{1, 0}, []float64{1, 0})
	near(t, "certain and right", LogLoss(0).On(sure), 0, 0)
	for _, id := range []string{"log-loss", "log-loss.clip-0", "log-loss.clip-.7", "log-loss.clip-1e-", "log-loss.clip-0.10"} {
		if _, err := ByID(id); err == nil {
			t.Errorf("%s is found", id)
		}
	}
}

func TestInfiniteLossOutsideAResampleDoesNotReachIt(t *testing.T) {
	t.Parallel()
	p := mustPrepare(t, []float64{1, .5}, []float64{0, 1})
	evaluate := LogLoss(0).Evaluator(p)
	if x, why := evaluate([]uint32{0, 3}); why != "" || math.Abs(x-math.Ln2) > 1e-15 {
		t.Errorf("loss %v (%s), want log 2", x, why)
	}
	if _, why := evaluate([]uint32{1, 1}); why != measure.Infinite {
		t.Errorf("reason %q", why)
	}
}

// calibrationIDs are the statistics of this file's subject, by usual id, and variants beside them.
func calibrationIDs() []Statistic {
	var list []Statistic
	for _, f := range calibrationFamilies() {
		for _, parameters := range f.Usual {
			s, err := f.New(parameters)
			if err != nil {
				panic(err)
			}
			list = append(list, s)
		}
	}
	for _, id := range []string{
		"ece.equal-mass.3.netcal", "mce.equal-mass.3.netcal", "ece.smoothed.silverman-0.9.whole-line", "ece.smoothed.silverman-1.06.whole-line",
	} {
		s, err := ByID(id)
		if err != nil {
			panic(err)
		}
		list = append(list, s)
	}
	return list
}

// sample is confidences with ties and qualities, some graded.
func sample(t *rapid.T) (confidence, quality []float64) {
	n := rapid.IntRange(1, 30).Draw(t, "n")
	c := rapid.OneOf(rapid.SampledFrom([]float64{0, .1, .3, .5, .9, 1}), rapid.Float64Range(0, 1))
	q := rapid.SampledFrom([]float64{0, 1, 0, 1, .25})
	return rapid.SliceOfN(c, n, n).Draw(t, "confidence"), rapid.SliceOfN(q, n, n).Draw(t, "quality")
}

func TestCalibrationIgnoresTheOrderOfItems(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		confidence, quality := sample(t)
		var c, q []float64
		for _, i := range rapid.Permutation(indices(len(confidence))).Draw(t, "order") {
			c, q = append(c, confidence[i]), append(q, quality[i])
		}
		a, err := Prepare(confidence, quality, measure.Confidence)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Prepare(c, q, measure.Confidence)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range calibrationIDs() {
			x, y := s.On(a), s.On(b)
			gx, _ := x.Get()
			gy, _ := y.Get()
			if gx != gy || x.Reason() != y.Reason() {
				t.Fatalf("%s: %v (%s) and %v (%s)", s.ID, gx, x.Reason(), gy, y.Reason())
			}
		}
	})
}

func TestCountsEqualTheExpandedSample(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		confidence, quality := sample(t)
		p, err := Prepare(confidence, quality, measure.Confidence)
		if err != nil {
			t.Fatal(err)
		}
		perItem := make([]uint32, len(confidence))
		var c, q []float64
		for i := range perItem {
			perItem[i] = rapid.Uint32Range(0, 3).Draw(t, "count")
			c = append(c, slices.Repeat(confidence[i:i+1], int(perItem[i]))...)
			q = append(q, slices.Repeat(quality[i:i+1], int(perItem[i]))...)
		}
		if len(c) == 0 {
			t.Skip("an empty resample")
		}
		expanded, err := Prepare(c, q, measure.Confidence)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]uint32, p.Atoms())
		p.Collapse(counts, perItem)
		for _, s := range calibrationIDs() {
			x, why := s.Evaluator(p)(counts)
			v := s.On(expanded)
			y, _ := v.Get()
			if math.Abs(x-y) > 1e-10 || why != v.Reason() {
				t.Fatalf("%s: %v (%s) on counts, %v (%s) expanded", s.ID, x, why, y, v.Reason())
			}
		}
	})
}

func TestReliabilityTableMatchesGoldenValues(t *testing.T) {
	t.Parallel()
	var golden calibrationGolden
	readTestdata(t, "calibration.json", &golden)
	for _, c := range golden.Cases {
		p := mustPrepare(t, c.Input.Conf, c.Input.Correct)
		rows, err := ReliabilityEqualWidth(p, 10, LeftClosed, .95)
		if err != nil {
			t.Fatal(err)
		}
		want := c.Expect["table10_left"].([]any)
		if len(rows) != len(want) {
			t.Fatalf("%s: %d rows, want %d", c.Name, len(rows), len(want))
		}
		for i, row := range rows {
			w := want[i].([]any) // bin, n, accuracy, confidence
			bin, n := w[0].(float64), int(w[1].(float64))
			if row.From != bin/10 || row.To != (bin+1)/10 || row.N != n || math.Abs(row.Confidence-w[3].(float64)) > 1e-12 {
				t.Errorf("%s: row %+v, want %v", c.Name, row, w)
			}
			near(t, c.Name, row.Quality, w[2].(float64), 1e-12)
			x, _ := row.Quality.Get()
			if iv := row.Quality.Interval; iv == nil || iv.Excludes(x) || iv.Method != "wilson" {
				t.Errorf("%s: interval %+v of %v", c.Name, iv, x)
			}
		}
	}
}

func TestAtomTableHasARowForEveryStatedConfidence(t *testing.T) {
	t.Parallel()
	p := mustPrepare(t, []float64{.9, .3, .9, 1, .9, .3}, []float64{1, 0, 0, 1, 1, 1})
	rows, err := AtomTable(p, .95)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		c       float64
		n, good int
	}{{.3, 2, 1}, {.9, 3, 2}, {1, 1, 1}}
	if len(rows) != len(want) {
		t.Fatalf("%d rows", len(rows))
	}
	for i, w := range want {
		r := rows[i]
		if r.From != w.c || r.To != w.c || r.N != w.n || *r.Quality.Interval != Wilson(w.good, w.n, .95) {
			t.Errorf("row %+v, want %+v", r, w)
		}
	}
	mass, err := ReliabilityEqualMass(p, 2, .95)
	if err != nil || len(mass) != 2 || mass[0].N+mass[1].N != 6 || mass[0].To >= mass[1].From {
		t.Errorf("equal mass: %+v, %v", mass, err)
	}
	graded, err := AtomTable(mustPrepare(t, []float64{.5}, []float64{.25}), .95)
	if err != nil || graded[0].Quality.Interval != nil {
		t.Errorf("graded qualities are no proportion: %+v, %v", graded, err)
	}
	if _, err := AtomTable(mustPrepare(t, []float64{95}, []float64{1}), .95); err == nil {
		t.Error("percents have a reliability table")
	}
}

func TestDebiasingRemovesWhatChanceAdds(t *testing.T) {
	t.Parallel()
	// One bin of n = 100 with confidence .5 and 60 correct: gap .1, variance .24.
	quality := append(slices.Repeat([]float64{1}, 60), slices.Repeat([]float64{0}, 40)...)
	p := mustPrepare(t, slices.Repeat([]float64{.5}, 100), quality)
	near(t, "rmsce", DebiasedRMSCE(10).On(p), math.Sqrt(.01-.24/99), 1e-12)
	// E|X| of a normal with mean .1 and sd .0489898 is .1008169 (by numerical integration).
	sd, mean, step := math.Sqrt(.0024), 0., 1e-5
	for x := -.4; x < .6; x += step {
		u := (x - .1) / sd
		mean += math.Abs(x) * math.Exp(-u*u/2) / (sd * math.Sqrt(2*math.Pi)) * step
	}
	near(t, "ece", DebiasedECE(10).On(p), .2-mean, 1e-8)
	calibrated := mustPrepare(t, []float64{.5, .5}, []float64{0, 1})
	if x, _ := DebiasedECE(10).On(calibrated).Get(); x >= 0 {
		t.Errorf("ECE 0 of two items stays %v after its bias", x)
	}
	near(t, "rmsce of a calibrated bin", DebiasedRMSCE(10).On(calibrated), 0, 0)
	undefinedAs(t, "rmsce of one item", DebiasedRMSCE(10).On(mustPrepare(t, []float64{.4}, []float64{1})), measure.TooFew)
}

func TestCalibrationIDsAreParsedStrictly(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"ece.kde.gaussian", "ece.kde.gaussian.0", "ece.kde.gaussian.NaN", "ece.kde.gaussian.0.050", "ece.smoothed",
		"ece.smoothed.silverman", "smece.0.05", "smece.sigma-2", "brier.reliability.equal-width.0.left-closed",
		"brier.reliability.equal-mass.10", "ece.equal-mass.10.relplot", "ece.smoothed.whole-line", "smece.relplot-1.0.3.0.05", "ece.debiased.equal-mass", "rmsce.debiased.equal-mass.0",
	} {
		if s, err := ByID(id); err == nil {
			t.Errorf("%q is found as %q", id, s.ID)
		}
	}
	for _, id := range []string{"smece.relplot-1.0.3", "smece.sigma-0.1", "ece.kde.gaussian.0.2", "ece.debiased.equal-mass.15", "brier.reliability.equal-width.15.right-closed"} {
		byID(t, id)
	}
}

func TestRMSCalibrationErrorLooksAtTheLastBin(t *testing.T) { // BrowseComp-Plus#18
	t.Parallel()
	confidence := append(slices.Repeat([]float64{.5}, 100), slices.Repeat([]float64{.95}, 150)...)
	quality := append(slices.Repeat([]float64{1}, 50), slices.Repeat([]float64{0}, 200)...)
	p := mustPrepare(t, confidence, quality)
	near(t, "RMS", byID(t, "rmsce.fixed-size.100").On(p), .735867, 5e-7)
	near(t, "L1", byID(t, "ece.fixed-size.100").On(p), .57, 1e-12)
	near(t, "RMS as published, which skips the last bin", byID(t, "rmsce.fixed-size.100.skip-last").On(p), 0, 0)
	few := mustPrepare(t, slices.Repeat([]float64{.2, .6}, 30), slices.Repeat([]float64{0, 1}, 30))
	near(t, "60 items in one bin", byID(t, "rmsce.fixed-size.100").On(few), .1, 1e-12)
}

func TestTopLabelNeedsNoLabelOfEveryClass(t *testing.T) { // verified_calibration#2
	t.Parallel()
	confidence, quality, err := TopLabel([][]float64{{.9, .1}, {.8, .2}}, []int{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "top-label ECE", ECE(10, LeftClosed).On(mustPrepare(t, confidence, quality)), .15, 1e-12)
}

// relplot 1.0.3 takes items at exactly 1 for half of what they are, where other confidences are beside
// them: .0843 in place of .15. The definition has it, and a constant confidence agrees in both.
func TestRelplotDiffersFromTheDefinitionAtTheEnds(t *testing.T) {
	t.Parallel()
	confidence := append(slices.Repeat([]float64{1}, 50), slices.Repeat([]float64{.9}, 50)...)
	quality := append(slices.Repeat([]float64{0}, 20), slices.Repeat([]float64{1}, 80)...)
	mixed := mustPrepare(t, confidence, quality)
	near(t, "relplot", SmoothECERelplot().On(mixed), .0843, 5e-5)
	near(t, "definition", SmoothECE().On(mixed), .15, 5e-5)
	constant := mustPrepare(t, confidence[:50], quality[10:60])
	near(t, "relplot, constant", SmoothECERelplot().On(constant), .2, 1e-3)
	near(t, "definition, constant", SmoothECE().On(constant), .2, 1e-12)
}

func TestSmoothedOnTheWholeLine(t *testing.T) {
	t.Parallel()
	p := mustPrepare(t, []float64{.2, .8}, []float64{0, 1})
	// A trapezoid of 90,001 points on [-4, 5].
	near(t, "whole line", byID(t, "ece.smoothed.silverman-1.06.whole-line").On(p), .12160375837, 1e-9)
}
