//go:build !race

package thrift_test

import "time"

// raceSlack is what a deadline may be late beyond its bound: nothing.
const raceSlack time.Duration = 0
