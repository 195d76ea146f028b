// Package house holds the tests that are about no package but about all: who may import whom.
package house
