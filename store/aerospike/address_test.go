package aerospike

import (
	"strings"
	"testing"
)

func TestParseAddress(t *testing.T) {
	for _, c := range []struct {
		text string
		want address
	}{
		{"aerospike://127.0.0.1:3100/test", address{"127.0.0.1", 3100, "test"}},
		{"aerospike://db/test", address{"db", 3000, "test"}},
		{"aerospike://[::1]:3000/prod", address{"::1", 3000, "prod"}},
	} {
		got, err := parseAddress(c.text)
		if err != nil || got != c.want {
			t.Errorf("%s: got %v, %v, want %v", c.text, got, err, c.want)
		}
		if err := CheckAddress(c.text); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	for text, want := range map[string]string{
		"":                          "does not start with aerospike://",
		"memory":                    "does not start with aerospike://",
		"http://db:3000/test":       "does not start with aerospike://",
		"aerospike:db":              "does not start with aerospike://",
		"aerospike:///test":         "names no host",
		"aerospike://db:3000":       "names no namespace",
		"aerospike://db:3000/":      "names no namespace",
		"aerospike://db:3000/a/b":   "has no slash",
		"aerospike://db:70000/test": "port 70000",
		"aerospike://db:x/test":     "invalid port",
		"aerospike://u:p@db/test":   "user and password",
		"aerospike://db/test?x=1":   "nothing to follow",
		"aerospike://db/12345678901234567890123456789012": "at most 31 bytes",
	} {
		_, err := parseAddress(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "write aerospike://host:port/namespace") {
			t.Errorf("%q: got error %v, want %q and how to write it", text, err, want)
		}
		if err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("%q: the error does not name it: %v", text, err)
		}
		if checked := CheckAddress(text); checked == nil || err == nil || checked.Error() != err.Error() {
			t.Errorf("%q: checked it is %v, parsed %v", text, checked, err)
		}
	}
}
