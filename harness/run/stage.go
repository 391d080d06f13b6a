package run

import (
	"fmt"
	"time"
)

// stage is how far a trial has come: it is told of a process that ends or falls silent. A stage is not changed once it is told, so that
// whoever waits for a process may look at it at any time.
type stage struct {
	text string // where it is not a turn
	// Of a turn: which one, from 1, of how many, since when, and how long its window is.
	turn, turns int
	began       time.Time
	window      time.Duration
}

func (f *family) reach(text string) { f.stage.Store(&stage{text: text}) }

// String goes on after what has happened to a process: "server grpc exited (exit status 2) ...".
func (s *stage) String() string {
	switch {
	case s.turn == 0:
		return s.text
	case time.Since(s.began) >= s.window:
		return "while the calls of " + s.of() + " drained"
	}
	return "while " + s.of() + " was measured"
}

func (s *stage) of() string { return turnOf(s.turn, s.turns) }

func turnOf(turn, turns int) string {
	if turns == 1 {
		return "its window"
	}
	return fmt.Sprintf("turn %d of %d", turn, turns)
}
