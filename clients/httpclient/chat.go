package httpclient

import (
	"context"
	"iter"

	"bakeoff/httpapi/calling"
	"bakeoff/service"
)

// RouteChat makes its call when the sequence is read: notes are sent by a goroutine while the answers are yielded.
// The lane's connection becomes a WebSocket with its first chat and stays one for the next. A consumer that stops
// early costs the connection; the goroutine then ends when notes yields again.
func (c *client) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return func(yield func(service.RouteNote, error) bool) {
		k, err := c.begin(ctx, true)
		if err != nil {
			yield(service.RouteNote{}, err)
			return
		}
		defer k.drop()
		if k.talk == nil {
			if err := k.upgrade(c); err != nil {
				yield(service.RouteNote{}, k.fail(err))
				return
			}
		}
		how, err := k.talk.Chat(k.Deadline(), notes, yield)
		if err := k.leave(how, true, err); err != nil {
			yield(service.RouteNote{}, err)
		}
	}
}

// upgrade makes the connection a WebSocket.
func (k *lane) upgrade(c *client) (err error) {
	if k.talk, err = calling.NewTalk(k.conn, c.addr, c.host, c.codec, c.max); err != nil {
		return err
	}
	k.answered = true
	return k.Rearm() // the library took the deadline off
}

// leave ends a turn whose stream has ended in that way, with that error, and returns what is left of it to yield. kept says
// that the server keeps the connection.
func (k *turn) leave(how calling.End, kept bool, err error) error {
	if how == calling.Broke {
		return k.fail(err)
	}
	k.end(how == calling.Whole && kept)
	return err
}
