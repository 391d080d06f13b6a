package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bakeoff/harness/load"
	"bakeoff/harness/plan"
	"bakeoff/harness/planted"
	"bakeoff/protocol"
)

// TestCalibrateRefusesPHP: nothing can be planted in what is none of ours; its backend can be made to wait.
func TestCalibrateRefusesPHP(t *testing.T) {
	needPHP(t)
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"--subject", "php", "--plant", "5%"}, "--plant, --plant-delay: php answers by itself, and nothing can be planted there: choose another subject"},
		{[]string{"--subject", "php", "--plant-delay", "1ms"}, "--plant, --plant-delay: php answers by itself"},
		{[]string{"--subject", "php-http", "--plant", "5%"}, "--plant: the CPU of php-http is that of PHP, in which nothing can be planted: choose another subject, or --plant-delay"},
		{[]string{"--subject", "php-grpc", "--plant", "5%"}, "--plant: the CPU of php-grpc is that of PHP"},
	} {
		r := bakeoff(t, append([]string{"calibrate"}, row.args...)...)
		if r.code != exitUsage {
			t.Errorf("%v: exit code %d, want %d", row.args, r.code, exitUsage)
		}
		wantAll(t, r.err, row.want)
	}
}

// TestWhereItIsPlanted: in the server whose figures are looked at, which of a front is the front; in the backend of one in PHP.
func TestWhereItIsPlanted(t *testing.T) {
	for _, row := range []struct {
		subject        string
		front, backend bool
	}{{"http", true, false}, {"front-grpc", true, false}, {"php-http", false, true}} {
		t.Run(row.subject, func(t *testing.T) {
			if strings.HasPrefix(row.subject, "php") {
				needPHP(t)
			}
			d := plan.All()[0].Defaults
			f := calibrateFlags{subject: row.subject, level: 4, runs: 1, delay: time.Millisecond, workload: d.Workloads[0],
				run: runFlags{store: storeMemory, timeout: protocol.DefaultTimeout, rate: rateFlags{arrivals: load.Even.Name, maxFailures: defaultMaxFailures}}}
			f.run.settings.Rounds, f.run.settings.Duration = 1, time.Second
			j, _, err := f.job(func(flag string) bool { return flag == "rounds" || flag == "duration" })
			if err != nil {
				t.Fatal(err)
			}
			j.extra = map[string]planted.Extra{row.subject + "-planted": {Delay: time.Millisecond}}
			for _, name := range j.settings.Subjects {
				has := func(args []string) bool { return slices.Contains(args, "--delay") }
				trial := plan.Trial{Subject: name, Concurrency: 4}
				it := strings.HasSuffix(name, "-planted")
				if got := has(j.front(trial, "127.0.0.1:1").Args); got != (it && row.front) {
					t.Errorf("%s: in the server: %t", name, got)
				}
				if b := j.backend(trial, "127.0.0.1:1"); b != nil && has(b.Args) != (it && row.backend) {
					t.Errorf("%s: in the backend: %t", name, has(b.Args))
				}
			}
		})
	}
}

// TestCalibrateFronts: what waits is seen by the clients of a front, in Go and in PHP.
func TestCalibrateFronts(t *testing.T) {
	for _, subject := range []string{"front-http", "php-http"} {
		t.Run(subject, func(t *testing.T) {
			if subject == "php-http" {
				needPHP(t)
			}
			file := filepath.Join(t.TempDir(), "c.jsonl")
			r := bakeoff(t, "calibrate", "--subject", subject, "--plant-delay", "50ms", "--runs", "1", "--rounds", "1", "--duration", "300ms", "--warmup", "60ms",
				"--concurrency", "4", "--store", "memory", "--results", file)
			if r.code != exitOK && r.code != exitIncomplete {
				t.Fatalf("exit code %d:\n%s", r.code, r.err)
			}
			seen := false
			for _, trial := range trialsIn(t, file).Trials {
				v, ok := trial.Values[plantedDelay]
				if it := trial.Subject == subject+"-planted"; ok != it || it && v != 0.05 {
					t.Errorf("%s: %v s are planted", trial.Subject, v)
				} else if it {
					seen = trial.Error == "" && trial.Outcomes.OK > 0 && trial.Outcomes.OK <= 4*(300/50+1) // each of 4 workers one call in 50 ms
				}
			}
			if !seen {
				t.Errorf("the planted 50 ms were not waited for:\n%s%s", r.out, r.err)
			}
		})
	}
}
