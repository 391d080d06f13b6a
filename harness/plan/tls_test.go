package plan

import (
	"slices"
	"testing"
)

func TestBothWays(t *testing.T) {
	for _, row := range []struct{ chosen, want []string }{
		{[]string{"grpc", "http"}, []string{"grpc", "grpc+tls", "http", "http+tls"}},
		{[]string{"grpc+tls"}, []string{"grpc", "grpc+tls"}},
		{[]string{"grpc", "grpc+tls"}, []string{"grpc", "grpc+tls"}},
		{[]string{"grpc", "http", "grpc"}, []string{"grpc", "grpc+tls", "http", "http+tls"}},
		{nil, []string{}},
	} {
		if got := tls.Expand(row.chosen); !slices.Equal(got, row.want) {
			t.Errorf("%q: got %q, want %q", row.chosen, got, row.want)
		}
	}
	s := tls.Defaults
	s.Subjects = tls.Expand([]string{""})
	if err := s.Valid(); err == nil {
		t.Error("a subject without a name is taken")
	}
	if got := dataType.Expand([]string{"a"}); !slices.Equal(got, []string{"a"}) {
		t.Errorf("an experiment that measures what was chosen: %q", got)
	}
	for _, name := range []string{"grpc", "grpc+tls"} {
		if Plain(name) != "grpc" || WithTLS(name) != "grpc+tls" || IsOverTLS(Plain(name)) || !IsOverTLS(WithTLS(name)) {
			t.Errorf("the names of %s: %s, %s", name, Plain(name), WithTLS(name))
		}
	}
}
