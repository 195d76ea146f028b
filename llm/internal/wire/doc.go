// Package wire carries JSON to and from servers that are not trusted: bodies are bounded, requests are paced,
// failed ones repeated for as long as that can help, and errors have a kind and no credential in them.
package wire
