package main

import (
	"encoding/json"
	"strings"
	"testing"

	"bakeoff/harness/doctor"
	"bakeoff/store/miniaero"
)

func TestDoctor(t *testing.T) {
	r := bakeoff(t, "doctor", "--concurrency", "1", "-o", "json")
	var all []doctor.Finding
	if err := json.Unmarshal([]byte(r.out), &all); err != nil {
		t.Fatalf("%v:\n%s", err, r.out)
	}
	if len(all) != len(doctor.All) || (r.code == exitOK) != doctor.Healthy(all) || r.code != exitOK && r.code != exitFailed {
		t.Errorf("%d findings, exit code %d: %s", len(all), r.code, r.err)
	}
	for format, width := range map[string]int{"table": 80, "wide": 130, "markdown": 1 << 20} {
		r := bakeoff(t, "doctor", "--concurrency", "1", "--format", format)
		for _, f := range all {
			wantAll(t, r.out, f.Name, string(f.Level))
		}
		for line := range strings.Lines(r.out) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
				t.Errorf("%s: a line of %d columns: %s", format, n, line)
			}
		}
	}
	if a, b := bakeoff(t, "doctor", "--concurrency", "1", "--wide"), bakeoff(t, "doctor", "--concurrency", "1"); strings.Count(a.out, "\n") >= strings.Count(b.out, "\n") {
		t.Errorf("--wide takes as many lines as 80 columns do:\n%s", a.out)
	}
	if r := bakeoff(t, "doctor", "-o", "csv"); r.code != exitUsage {
		t.Errorf("exit code %d", r.code)
	} else {
		wantAll(t, r.err, "-o csv", "table, wide, markdown, json")
	}
	for _, args := range [][]string{{"doctor", "--concurrency", "0"}, {"doctor", "--store", "db"}, {"doctor", "-o", "csv"}, {"doctor", "x"}} {
		if r := bakeoff(t, args...); r.code != exitUsage {
			t.Errorf("%v: exit code %d", args, r.code)
		}
	}
}

func TestDoctorOfAStore(t *testing.T) {
	nobody := refusingAddr(t)
	own := miniaero.RunT(t)
	lost := miniaero.RunT(t, miniaero.Options{Advertise: []string{nobody}})
	for _, c := range []struct {
		addr string
		bad  bool
		want []string
	}{
		{own.Addr() + "/nosuch", true, []string{`no namespace "nosuch", it has test`, "name a namespace that it has"}},
		{own.Addr(), false, []string{"answers and advertises", own.Addr()}},
		{lost.Addr(), true, []string{"advertises", nobody, "can't be reached", "refused", "access-address"}},
		{nobody, true, []string{nobody, "refused", "start it"}},
	} {
		address := "aerospike://" + c.addr
		if !strings.Contains(c.addr, "/") {
			address += "/test"
		}
		r := bakeoff(t, "doctor", "--concurrency", "1", "--store", address, "-o", "json")
		if c.bad && r.code != exitFailed {
			t.Errorf("%s: exit code %d", c.addr, r.code)
		}
		var all []doctor.Finding
		if err := json.Unmarshal([]byte(r.out), &all); err != nil {
			t.Fatal(err)
		}
		f := all[len(all)-1]
		if f.Name != "store" || (f.Level == doctor.Bad) != c.bad {
			t.Errorf("%s: %+v", c.addr, f)
		}
		wantAll(t, f.String(), c.want...)
	}
}
