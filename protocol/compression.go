package protocol

import "fmt"

// KnobCompression is the name of the knob of the protocols that can compress what they send.
const KnobCompression = "compression"

// The values of KnobCompression.
const (
	NoCompression = "off"
	Gzip          = "gzip"
)

// Compressed reads the value of KnobCompression: whether messages are compressed.
func Compressed(value string) (bool, error) {
	switch value {
	case NoCompression:
		return false, nil
	case Gzip:
		return true, nil
	}
	return false, fmt.Errorf("option %s: %q is neither %s nor %s", KnobCompression, value, NoCompression, Gzip)
}
