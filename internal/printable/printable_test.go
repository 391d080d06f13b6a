package printable

import "testing"

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ in, line, text string }{
		{"", "", ""},
		{"語音接通 é", "語音接通 é", "語音接通 é"},
		{"a\tb\r\nc\n", "a b  c ", "a b \nc\n"},
		{"\x1b[2J\u009b2J\x07\x00\x7f", "\ufffd[2J\ufffd2J\ufffd\ufffd\ufffd", "\ufffd[2J\ufffd2J\ufffd\ufffd\ufffd"},
		{"\u202ea\u2066b\u2028c\u2029", "\ufffda\ufffdb\ufffdc\ufffd", "\ufffda\ufffdb\ufffdc\ufffd"},
		{"\xff", "\ufffd", "\ufffd"}, // no UTF-8
	} {
		if got := Line(c.in); got != c.line {
			t.Errorf("line of %q: %q, want %q", c.in, got, c.line)
		}
		if got := Text(c.in); got != c.text {
			t.Errorf("text of %q: %q, want %q", c.in, got, c.text)
		}
	}
}
