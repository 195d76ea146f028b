package consistency

import (
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
)

// SourceFacts is how the perturbations of one source for one benchmark were found.
type SourceFacts struct {
	Source    string `json:"source"`
	Benchmark string `json:"benchmark"`
	// From says in words where they come from.
	From  string `json:"from"`
	Items int    `json:"items"`
	// Candidates were looked at in Batches batches, Kept of them used; Refused counts the others by reason.
	Candidates int             `json:"candidates"`
	Kept       int             `json:"kept"`
	Batches    int             `json:"batches"`
	Refused    map[Refusal]int `json:"refused"`
	// Acceptance is the share kept of those that were needed, with an exact interval.
	Acceptance measure.Value `json:"acceptance"`
	// Wanted of each item, and the fewest that one has.
	Wanted int `json:"wanted"`
	Fewest int `json:"fewest"`
	// K is the cosine from which two were too alike; 0 where words alone were compared. KFrom says where it is from.
	K     float64 `json:"k,omitempty"`
	KFrom string  `json:"k_from,omitempty"`
	// Nearest counts, in bins of equal width over [-1,1], the cosines of candidates with the nearest kept before.
	Nearest []int `json:"nearest,omitempty"`
	// Topics is what a judge said of them; nil where none was asked, and TopicJudge who it was.
	Topics     *Topics `json:"topics,omitempty"`
	TopicJudge string  `json:"topic_judge,omitempty"`
}

// NearestBins is the number of bins of [SourceFacts].Nearest.
const NearestBins = 40

// Bin is the number of the bin of a cosine, of n of equal width over [-1,1], the last closed at 1.
func Bin(cosine float64, n int) int { return max(0, min(n-1, int((cosine+1)/2*float64(n)))) }

// Accept fills in the acceptance: kept of what was needed, which leaves out the surplus.
func (f *SourceFacts) Accept(surplus int, level float64) {
	f.Acceptance = metric.Proportion(f.Kept, f.Candidates-surplus, level)
	f.Acceptance.Method = "perturbations.acceptance"
}

// JudgeFacts is what a judge was asked about the answers of one model to one benchmark.
type JudgeFacts struct {
	Model     string `json:"model"`
	Benchmark string `json:"benchmark"`
	Judge     string `json:"judge"`
	Clusters  bool   `json:"clusters"`
	// Pairs of answers were to be compared, Distinct of them of different texts, Asked were asked about; Unclear
	// replies held no verdict. A call that the ledger knew already is counted as asked.
	Pairs    int `json:"pairs"`
	Distinct int `json:"distinct"`
	Asked    int `json:"asked"`
	Unclear  int `json:"unclear"`
}

// ParaphraseFacts is how the paraphrases of the questions of one benchmark were found.
type ParaphraseFacts struct {
	Benchmark string          `json:"benchmark"`
	By        string          `json:"by"`
	Items     int             `json:"items"`
	Wanted    int             `json:"wanted"`
	Kept      int             `json:"kept"`
	Fewest    int             `json:"fewest"`
	Refused   map[Refusal]int `json:"refused"`
}

// Calibration is a threshold of diversity as it is kept in a file: found once for a sampler and an embedding.
type Calibration struct {
	Schema string `json:"schema"`
	// Sampler and Embeddings are names of weights, or of the model on a server, with the checksums of the weights
	// where they are known.
	Sampler          string `json:"sampler"`
	SamplerSHA256    string `json:"sampler_sha256,omitempty"`
	Embeddings       string `json:"embeddings"`
	EmbeddingsSHA256 string `json:"embeddings_sha256,omitempty"`
	// Premises with at most Paraphrases each, at Temperature, from Seed; Short of them have fewer.
	Premises    int     `json:"premises"`
	Paraphrases int     `json:"paraphrases"`
	Temperature float64 `json:"temperature"`
	TopP        float64 `json:"top_p"`
	Seed        uint64  `json:"seed"`
	Found       int     `json:"found"`
	Short       int     `json:"short"`
	Prompt      string  `json:"prompt"`
	DiversityCalibration
}
