package httpapi

import (
	"encoding/json"
	"testing"
)

// TestHotMessagesArePlainlyUnique keeps them on the quick way: their names have bits of their own.
func TestHotMessagesArePlainlyUnique(t *testing.T) {
	for _, m := range []string{
		`{"authRq":{"clientId":"a","token":"t"},"groupName":"g","enName":"n"}`,
		`{"authRp":{"token":"t"},"codeId":101,"cnName":"語音接通"}`,
		`{"clientId":"a","secret":"s"}`,
		`{"latitude":1,"longitude":2}`,
		`{"name":"n","location":{"latitude":1,"longitude":2}}`,
		`{"location":{"latitude":1,"longitude":2},"message":"m"}`,
		`{"pointCount":1,"featureCount":2,"distance":3,"elapsedTime":4}`,
	} {
		if !plainlyUnique([]byte(m)) {
			t.Errorf("%s takes the slow way", m)
		}
	}
}

// FuzzDuplicate: the quick way never lets a name pass that the slow one finds.
func FuzzDuplicate(f *testing.F) {
	for _, m := range []string{
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":{"a":[{"a":"a"}]},"b":"a"}`, `"a"`, `[]`, `{"":1,"":2}`, ` { "a" : 1 , "b":2} `,
		`[[[[[[[[[{"a":1,"a":2}]]]]]]]]]`, `{"x":"\\","x":1}`, `[{"a":1},{"a":1}]`,
	} {
		f.Add([]byte(m))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !json.Valid(b) {
			return
		}
		if name, at := findDuplicate(b); at >= 0 && plainlyUnique(b) {
			t.Errorf("%q has %q twice, again at %d", b, name, at)
		}
	})
}
