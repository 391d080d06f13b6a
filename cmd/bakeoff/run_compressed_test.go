package main

import (
	"testing"

	"bakeoff/harness/plan"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
)

// TestUncompressed: a subject that compresses finds itself without among the subjects of its run, and nobody else.
func TestUncompressed(t *testing.T) {
	variants := []plan.Variant{
		{Name: "grpc-gzip", Of: "grpc", Options: map[string]string{"compression": "gzip"}},
		{Name: "grpc-off", Of: "grpc", Options: map[string]string{"compression": "off"}},
		{Name: "http-gzip", Of: "http", Options: map[string]string{"compression": "gzip"}},
		{Name: "http-close-gzip", Of: "http", Options: map[string]string{"compression": "gzip", "keep-alive": "off"}},
		{Name: "http-close", Of: "http", Options: map[string]string{"keep-alive": "off"}},
	}
	for _, row := range []struct {
		of       string
		subjects []string
		want     string
	}{
		{"grpc-gzip", []string{"http", "grpc-gzip", "grpc"}, "grpc"},
		{"grpc-gzip", []string{"grpc-gzip", "grpc-off"}, "grpc-off"},
		{"grpc-gzip", []string{"grpc-gzip", "http"}, ""},
		{"grpc", []string{"grpc-gzip", "grpc"}, ""},
		{"grpc-off", []string{"grpc-off", "grpc"}, ""},
		{"http-gzip", []string{"http-close", "http-gzip", "http"}, "http"},
		{"http-close-gzip", []string{"http", "http-close-gzip", "http-gzip", "http-close"}, "http-close"},
	} {
		j := &job{subjects: subjectsOf(t, variants, row.subjects)}
		j.settings.Subjects = row.subjects
		if got := j.uncompressed(row.of); got != row.want {
			t.Errorf("%s among %v: %q, want %q", row.of, row.subjects, got, row.want)
		}
	}
}

func subjectsOf(t *testing.T, variants []plan.Variant, names []string) map[string]protocol.Protocol {
	t.Helper()
	all := map[string]protocol.Protocol{}
	for _, name := range names {
		p, err := suite.Find(name)
		if v := variantOf(variants, name); v != nil {
			p, err = runFlags{}.variant(*v, name)
		}
		if err != nil {
			t.Fatal(err)
		}
		all[name] = p
	}
	return all
}
