//go:build ignore

// Generate builds the shared dictionary of the ledger from corpus.txt: its text, and the frequencies
// with which letters, matches and distances occur when the corpus is compressed line by line.
//
// A dictionary that has been released is never built again: what was written with it needs it.
package main

import (
	"bytes"
	"log"
	"os"

	"github.com/klauspost/compress/zstd"
)

func main() {
	corpus, err := os.ReadFile("dictionary/corpus.txt")
	if err != nil {
		log.Fatal(err)
	}
	// The most usual forms come first in the file and last in the dictionary, where they are near.
	lines := bytes.Split(bytes.TrimSpace(corpus), []byte("\n"))
	var history []byte
	for i := range lines {
		history = append(append(history, lines[len(lines)-1-i]...), '\n')
	}
	// Halves of lines, compressed against the other half, are what texts that are not in the corpus look like.
	var samples [][]byte
	for _, l := range lines {
		samples = append(samples, l[:len(l)/2], bytes.ToUpper(l[:min(len(l), 12)]), swapped(l))
	}
	// Every byte once: a code that lacks a letter of a text is of no use to it at all.
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	samples = append(samples, every)
	d, err := zstd.BuildDict(zstd.BuildDictOptions{
		ID: 1, Contents: samples, History: history, Offsets: [3]int{1, 4, 8},
		Level: zstd.SpeedBetterCompression, CompatV155: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("dictionary/1.zstd-dictionary", d, 0o644); err != nil {
		log.Fatal(err)
	}
	log.Printf("%d bytes of dictionary from %d lines", len(d), len(lines))
}

// swapped turns every other word round, so that letters keep their frequency but words do not match.
func swapped(line []byte) []byte {
	words := bytes.Split(line, []byte(" "))
	for i, w := range words {
		if i%2 == 0 {
			turned := bytes.Clone(w)
			for a, b := 0, len(turned)-1; a < b; a, b = a+1, b-1 {
				turned[a], turned[b] = turned[b], turned[a]
			}
			words[i] = turned
		}
	}
	return bytes.Join(words, []byte(" "))
}
