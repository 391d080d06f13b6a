//go:build race

package thrift_test

import "time"

// raceSlack is what a deadline may be late beyond its bound when the race detector slows everything down.
const raceSlack = 200 * time.Millisecond
