//go:build race

package miniaero_test

// raced says that the race detector is on, under which memory and speed mean nothing.
const raced = true
