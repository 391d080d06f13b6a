package calling

import (
	"errors"
	"io"

	"bakeoff/protocol/gzipped"
)

// Expand appends the whole body of a compressed answer to dst: at most max bytes. The error is the call's own, or the
// connection's.
func Expand(dst []byte, body io.Reader, max int) ([]byte, error) {
	dst, err := gzipped.Expand(dst, body, max)
	var bad *gzipped.Error
	switch {
	case errors.Is(err, gzipped.ErrTooLarge):
		err = LargeAnswer()
	case errors.As(err, &bad):
		err = Malformed(err)
	}
	return dst, err
}
