//go:build !race

package llamacpp

const underRace = false
