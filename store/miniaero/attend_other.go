//go:build !linux

package miniaero

// attend is the plain way.
func (c *session) attend() bool { return c.plain() }
