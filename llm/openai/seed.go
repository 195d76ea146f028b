package openai

import "github.com/credence-lab/credence/llm"

// seedOf makes one seed of a request's seed and sample, in the range that all servers take: samples of one
// seed differ, and so do seeds.
func seedOf(r llm.Request) int64 {
	x := r.Seed + 0x9e3779b97f4a7c15*uint64(r.Sample+1)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9 // the finaliser of SplitMix64 (Steele et al. 2014)
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int64((x ^ x>>31) >> 33)
}
