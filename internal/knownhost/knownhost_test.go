package knownhost

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHandler(t *testing.T) {
	h := Handler([]string{"Bake.Example"}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{
		"127.0.0.1:8099": http.StatusOK, "[::1]:80": http.StatusOK, "LocalHost.": http.StatusOK, "bake.example:1": http.StatusOK,
		"evil.example": http.StatusMisdirectedRequest, "127.0.0.1.evil.example:8099": http.StatusMisdirectedRequest, "": http.StatusMisdirectedRequest,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("host %q: %d, want %d", host, w.Code, want)
		}
	}
}

func FuzzHostOf(f *testing.F) {
	for _, seed := range []string{"localhost", "[::1]:80", "::1", "a:b:c", "[", "."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if name := hostOf(host); len(name) > 3*len(host) { // lower case may take more bytes
			t.Errorf("%q became %q", host, name)
		}
	})
}
