// Package e2e runs the whole command on the real embedded model: its tests are the study that a
// newcomer runs, made small.
package e2e
