package cli

import (
	"testing"

	"github.com/credence-lab/credence/study"
	"github.com/credence-lab/credence/weights"
)

// A threshold holds for the weights that it was found with, and the default of a study of consistency takes that of
// the model that is fetched by default.
func TestShippedCalibrationsAreOfTheCatalogue(t *testing.T) {
	t.Parallel()
	catalogue := weights.BuiltIn()
	found := false
	for _, c := range study.ShippedCalibrations() {
		sampler, err := catalogue.Model(c.Sampler)
		if err != nil {
			t.Fatal(err)
		}
		embeddings, err := catalogue.Model(c.Embeddings)
		if err != nil {
			t.Fatal(err)
		}
		if c.SamplerSHA256 != sampler.SHA256 || c.EmbeddingsSHA256 != embeddings.SHA256 {
			t.Errorf("%s under %s: made with other weights than the catalogue's", c.Sampler, c.Embeddings)
		}
		if c.Premises != 30 || c.Paraphrases != 50 || c.Short != 0 || c.Found != 1500 {
			t.Errorf("%s under %s: %d statements, %d paraphrases, %d short; want the paper's 30 times 50", c.Sampler, c.Embeddings, c.Premises, c.Found, c.Short)
		}
		pairs := 0
		for _, n := range c.Histogram {
			pairs += n
		}
		if n := 30 * 50 * 49 / 2; pairs != n || c.K.N != n {
			t.Errorf("%s under %s: %d cosines in the histogram, n = %d, want %d", c.Sampler, c.Embeddings, pairs, c.K.N, n)
		}
		found = found || c.Sampler == "qwen2.5-coder-0.5b-instruct" && c.Embeddings == "all-minilm-l6-v2"
	}
	if !found {
		t.Error("none is of the default model under the default embedding")
	}
}
