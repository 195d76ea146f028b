// Package llamacpp runs a model in process with the llama.cpp shared library, without cgo.
package llamacpp
