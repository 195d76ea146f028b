//go:build race

package llamacpp

// underRace says that the race detector is linked in, which takes several times the memory.
const underRace = true
