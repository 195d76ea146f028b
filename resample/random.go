package resample

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// SettingSeed derives the seed of one setting's draws from the study's. It depends on nothing but its
// arguments, so that a further setting changes no other; purpose keeps apart the uses of chance
// within a setting, such as "bootstrap".
func SettingSeed(study uint64, model, dataset, purpose string) uint64 {
	hash := sha256.New()
	var word [8]byte
	write := func(x uint64) {
		binary.LittleEndian.PutUint64(word[:], x)
		hash.Write(word[:])
	}
	write(study)
	for _, part := range []string{model, dataset, purpose} {
		write(uint64(len(part))) // so that no two lists of parts run together alike
		hash.Write([]byte(part))
	}
	return binary.LittleEndian.Uint64(hash.Sum(nil))
}

// generator is wyrand (Wang Yi): one multiplication a word, each word independent of the previous
// one's multiplication, so that the processor overlaps them.
type generator uint64

// generatorOf gives each resample of a seed a stream of its own.
func generatorOf(seed uint64, resample int) generator {
	return generator(mix(seed ^ mix(uint64(resample)+1)))
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (g *generator) next() uint64 {
	*g += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(uint64(*g), uint64(*g)^0xe7037ed1a0b428db)
	return hi ^ lo
}

// tally draws len(counts) times from the units 0..len(counts)-1 with equal chances and counts the
// draws of each.
//
// A word gives two draws: the high half of 32 random bits times the number of units. The few words
// with a product that would favour some units are rejected (Lemire 2019), so that the chances are
// exactly equal.
func (g *generator) tally(counts []uint32) {
	clear(counts)
	units := uint64(len(counts))
	if units == 0 {
		return
	}
	rejected := uint32((1 << 32) % units)
	left := units
	for left > 1 {
		word := g.next()
		first, second := (word&(1<<32-1))*units, (word>>32)*units
		if min(uint32(first), uint32(second)) >= rejected {
			counts[first>>32]++
			counts[second>>32]++
			left -= 2
		}
	}
	for left > 0 {
		if last := (g.next() >> 32) * units; uint32(last) >= rejected {
			counts[last>>32]++
			left--
		}
	}
}
