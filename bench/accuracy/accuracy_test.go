package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"bakeoff/protocol/suite"
	"bakeoff/service"
)

// TestEveryProtocolReportsTheFailures has a service fail one call in ten with each of its codes, and with causes of the store.
func TestEveryProtocolReportsTheFailures(t *testing.T) {
	var errs []*service.Error
	for _, code := range service.Codes() {
		errs = append(errs, &service.Error{Code: code, Msg: "planted"})
	}
	for _, cause := range []string{"store_timeout", "store_pool", "store_hot_key"} {
		errs = append(errs, &service.Error{Code: service.Unavailable, Msg: "planted", Cause: cause})
	}
	for _, p := range suite.All {
		for _, e := range errs {
			t.Run(p.Name+"/"+e.Class(), func(t *testing.T) {
				var out bytes.Buffer
				table := &table{w: &out}
				// Of so few calls a tenth may be nine in a hundred; the counts must be the same all the same.
				d := 50 * time.Millisecond
				err := failingOne(t.Context(), table, p.Name, e, d)
				for errors.Is(err, errFewCalls) && d < 10*time.Second { // a busy machine
					d *= 2
					err = failingOne(t.Context(), table, p.Name, e, d)
				}
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(out.String()) {
					if strings.Contains(line, e.Class()) && strings.Contains(line, "MISSED") {
						t.Error(line)
					}
				}
				t.Logf("truth, ours, error:\n%s", out.String())
			})
		}
	}
}

func TestTable(t *testing.T) {
	for _, row := range []struct {
		line   func(t *table)
		missed bool
	}{
		{func(t *table) { t.relative("x", 100, 100.9, 0.01) }, false},
		{func(t *table) { t.relative("x", 100, 98.9, 0.01) }, true},
		{func(t *table) { t.absolute("x", 9, 9.5, 0.5) }, false},
		{func(t *table) { t.absolute("x", 9, 8.4, 0.5) }, true},
		{func(t *table) { t.bound("x", 10, 10) }, false},
		{func(t *table) { t.bound("x", 11, 10) }, true},
	} {
		var out bytes.Buffer
		table := &table{w: &out}
		row.line(table)
		if (table.missed == 1) != row.missed || strings.Contains(out.String(), "MISSED") != row.missed {
			t.Errorf("%q: %d missed, want %v", out.String(), table.missed, row.missed)
		}
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"-seconds 15":     "a multiple of 10",
		"-only freezing":  "there are burner, trial, pace, memory, failing, freeze",
		"-child somebody": "no such process",
	} {
		if err := accuracy(t.Context(), strings.Fields(args), strings.NewReader(""), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}
