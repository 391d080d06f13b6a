//go:build !linux

package pool

import "net"

// Prompt is a connection that waits for an answer before it reads one; there are none but on Linux.
type Prompt struct{ net.Conn }

// NewPrompt is nil: the connection is used as it is.
func NewPrompt(net.Conn) *Prompt { return nil }

// Hold has the next Write wait for the next Read.
func (p *Prompt) Hold() {}

// Refused says that the latest held write failed, although there was something to read.
func (p *Prompt) Refused() bool { return false }
