package result

import (
	"fmt"
	"strings"
	"testing"
)

// wholeLine is a trial with all that a trial can have.
const wholeLine = `{"kind":"bakeoff-trial","subject":"a","workload":"w","mode":"open","rate":"500..2000","arrivals":"poisson","concurrency":50,"conns":1,"round":2,"order":3,"seed":9,` +
	`"store":"memory","messages":1,"started":"2026-01-02T15:04:05Z","turns":5,"turns_made":4,"window":2,"elapsed":2.5,` +
	`"outcomes":{"started":6,"ok":3,"failed":{"timeout":2},"cut_off":1,"dropped":7},"examples":[{"class":"timeout","message":"late","count":2}],` +
	`"values":{"throughput":1.5,"server_cpu":0.1,"server_rss":1e9,"store_ops_read":-3,"server_calls":-1,"lateness_p50":0},` +
	`"histograms":[{"step":"w","outcome":"ok","time":"response","count":3,"min_ns":1000,"mean_ns":2000,"max_ns":3000,"data":""}],` +
	`"slices":[{"ok":3,"mean_ns":2000,"cpu":{"server":0.1}}],"first_iterations":[{"n":1,"steps_ns":[1000,2000],"outcome":"ok"}],` +
	`"search":{"highest_held":600,"lowest_missed":700,"end":"found","rates":[300,600]},"resumed":1}`

const wholeHeader = `{"schema":2,"kind":"bakeoff-header","experiment":"e","started":"2026-01-02T15:04:05Z","precision":{"figure":"throughput","target":0.02,"first":10},` +
	`"find_rate":{"objective":"p99<5ms","shares":["100%"],"rounds":10},"planned":60,"subjects":[{"name":"a","target":{"network":"loopback","cpus":2,"gomaxprocs":2}},{"name":"b"}],` +
	`"environment":{"cpus":2,"mem_bytes":8000000000,"gomaxprocs":2,"cpu_quota":1.5}}`

// hostile are changes to a good line of either kind, and what is said of them.
var hostile = []struct{ from, to, want string }{
	{`"throughput":1.5`, `"throughput":1e308`, `"values.throughput" is 1e+308: want 0 to 1e15`},
	{`"throughput":1.5`, `"throughput":-1e300`, `"values.throughput" is -1e+300: want 0 to 1e15`},
	{`"throughput":1.5`, `"throughput":-1`, `"values.throughput" is -1: want 0 to 1e15`},
	{`"throughput":1.5`, `"throughput":1e-320`, `"values.throughput" is 1e-320: want 0, or 1e-18 and more`},
	{`"server_cpu":0.1`, `"server_cpu":1e10`, `"values.server_cpu" is 1e+10: want 0 to 1e9`},
	{`"store_ops_read":-3`, `"store_ops_read":-1e16`, `"values.store_ops_read" is -1e+16: want -1e15 to 1e15`},
	{`"lateness_p50":0`, `"lateness_p50":-0.001`, `"values.lateness_p50" is -0.001: want 0 to 1e9`},
	{`"window":2`, `"window":1e308`, `"window" is 1e+308 s: want 1e-9 to 1e9 s`},
	{`"window":2`, `"window":-2`, `"window" is -2 s: want 1e-9 to 1e9 s`},
	{`"window":2`, `"window":1e-320`, `"window" is 1e-320 s: want 1e-9 to 1e9 s`},
	{`"elapsed":2.5`, `"elapsed":-1`, `"elapsed" is -1 s: want 1e-9 to 1e9 s`},
	{`"elapsed":2.5`, `"elapsed":1e300`, `"elapsed" is 1e+300 s: want`},
	{`"started":"2026`, `"started":"9026`, `"started" is 9026-01-02T15:04:05Z: want a time from 1970 to 2200`},
	{`"started":"2026`, `"started":"0926`, `"started" is 0926-01-02T15:04:05Z: want a time from 1970 to 2200`},
	{`"mode":"open"`, `"mode":"sideways"`, `"mode" is "sideways": want "closed" or "open"`},
	{`"mode":"open"`, `"mode":"closed"`, `"rate" is "500..2000" beside the "mode" "closed": want none in the closed loop`},
	{`"500..2000"`, `"x..y"`, `"rate" is "x..y": want calls a second as in "500", "500..2000" or "500/1000", each from 1 to 1e9`},
	{`"500..2000"`, `"-5"`, `"rate" is "-5": want`},
	{`"500..2000"`, `"0"`, `"rate" is "0": want`},
	{`"500..2000"`, `"500/"`, `"rate" is "500/": want`},
	{`"500..2000"`, `"1..2..3"`, `"rate" is "1..2..3": want`},
	{`"round":2`, `"round":4611686018427387904`, `"round" is 4611686018427387904: want 1 to 1e6`},
	{`"round":2`, `"round":-1`, `"round" is -1: rounds count from 1`},
	{`"concurrency":50`, `"concurrency":1000000000000000000`, `"concurrency" is 1000000000000000000: want 0 to 1e9`},
	{`"concurrency":50`, `"concurrency":-1`, `"concurrency" is -1: want 0 to 1e9`},
	{`"conns":1`, `"conns":1000000000000000000`, `"conns" is 1000000000000000000: want 0 to 1e9`},
	{`"order":3`, `"order":-3`, `"order" is -3: want 0 to 1e9`},
	{`"messages":1`, `"messages":-1`, `"messages" is -1: want 1 to 1e9`},
	{`"messages":1`, `"messages":0`, `"messages" is 0: want 1 to 1e9`},
	{`"turns":5`, `"turns":-1`, `"turns" is -1: want 0 to 1000`},
	{`"turns_made":4`, `"turns_made":99`, `"turns_made" is 99: want 0 to 5`},
	{`"turns_made":4`, `"turns_made":-3`, `"turns_made" is -3: want 0 to 5`},
	{`"resumed":1`, `"resumed":-1`, `"resumed" is -1: want 0 to 1e6`},
	{`"started":6`, `"started":18446744073709551615`, `"outcomes.started" is 18446744073709551615: want 0 to 1e15`},
	{`"timeout":2`, `"timeout":9007199254740993`, `"outcomes.failed.timeout" is 9007199254740993: want 0 to 1e15`},
	{`"ok":3,"failed"`, `"ok":300,"failed"`, `"outcomes" has 6 that were started, and 303 that succeeded, failed or were cut off: want as many`},
	{`"count":2`, `"count":9007199254740993`, `"examples.count" is 9007199254740993: want 0 to 1e15`},
	{`"time":"response"`, `"time":"sideways"`, `histogram of step "w", ok: "time" is "sideways": want "response" or "service"`},
	{`"count":3`, `"count":-3`, `histogram of step "w", ok: "count" is -3: want 0 to 1e15`},
	{`"min_ns":1000`, `"min_ns":-1`, `histogram of step "w", ok: "min_ns" is -1: want 0 to 1e18`},
	{`"mean_ns":2000,"max`, `"mean_ns":1e300,"max`, `histogram of step "w", ok: "mean_ns" is 1e+300: want 0 to 1e18`},
	{`"max_ns":3000`, `"max_ns":9223372036854775807`, `histogram of step "w", ok: "max_ns" is 9223372036854775807: want 0 to 1e18`},
	{`"slices":[{"ok":3`, `"slices":[{"ok":9007199254740993`, `"slices.ok" is 9007199254740993: want 0 to 1e15`},
	{`"mean_ns":2000,"cpu"`, `"mean_ns":-1e300,"cpu"`, `"slices.mean_ns" is -1e+300: want 0 to 1e18`},
	{`"cpu":{"server":0.1}`, `"cpu":{"server":-5}`, `"slices.cpu.server" is -5: want 0 to 1e9`},
	{`"n":1`, `"n":0`, `"first_iterations.n" is 0: want 1 to 1e9`},
	{`[1000,2000]`, `[1000,-2000]`, `"first_iterations.steps_ns" is -2000: want 0 to 1e18`},
	{`"end":"found"`, `"end":"lost"`, `"search.end" is "lost": want "found" or "none" or "all" or "spent" or "failed"`},
	{`[300,600]`, `[300,0]`, `"search.rates" is 0: want 1 to 1e9`},

	{`"planned":60`, `"planned":-1`, `"planned" is -1: want 1 to 1e9`},
	{`"planned":60`, `"planned":0`, `"planned" is 0: want 1 to 1e9`},
	{`"target":0.02`, `"target":0`, `"precision.target" is 0: want a share above 0 and below 1`},
	{`"target":0.02`, `"target":1e300`, `"precision.target" is 1e+300: want a share above 0 and below 1`},
	{`"first":10`, `"first":0`, `"precision.first" is 0: want 1 to 1e6`},
	{`"rounds":10`, `"rounds":-10`, `"find_rate.rounds" is -10: want 0 to 1e6`},
	{`{"name":"b"}`, `{"name":""}`, `"subjects" has one without a "name": want one in each`},
	{`{"name":"b"}`, `{"name":"a"}`, `"subjects" has "a" twice: want each once`},
	{`"cpus":2,"mem`, `"cpus":-2,"mem`, `"environment.cpus" is -2: want 0 to 1e6`},
	{`"cpu_quota":1.5`, `"cpu_quota":1e308`, `"environment.cpu_quota" is 1e+308: want 0 to 1e6`},
	{`8000000000`, `18446744073709551615`, `"environment.mem_bytes" is 18446744073709551615: want 0 to 1e18`},
	{`"cpus":2,"gomaxprocs":2}}`, `"cpus":2,"gomaxprocs":-2}}`, `"subjects.target.gomaxprocs" is -2: want 0 to 1e6`},

	{`"round":2`, `"round":"2"`, `"round" is a text: want a whole number that fits in 64 bits`},
	{`"round":2`, `"round":2.5`, `"round" is 2.5: want a whole number that fits in 64 bits`},
	{`"round":2`, `"round":99999999999999999999`, `"round" is 99999999999999999999: want a whole number that fits in 64 bits`},
	{`"seed":9`, `"seed":-9`, `"seed" is -9: want a whole number from 0 to 18446744073709551615`},
	{`"throughput":1.5`, `"throughput":1e999`, `"values" is 1e999: want a number`},
	{`"throughput":1.5`, `"throughput":"1.5"`, `"values" is a text: want a number`},
	{`"count":3`, `"count":[3]`, `"histograms.count" is a list: want a whole number that fits in 64 bits`},
	{`"class":"timeout"`, `"class":true`, `"examples.class" is true or false: want a text`},
	{`"outcomes":{"started":6,`, `"outcomes":[],"x":{`, `"outcomes" is a list: want an object`},
	{`"slices":[`, `"slices":{},"x":[`, `"slices" is an object: want a list`},
	{`"started":"2026-01-02T15:04:05Z"`, `"started":"yesterday"`, `"started" is "yesterday": want a time such as "2026-01-02T15:04:05Z"`},
	{`"started":"2026-01-02T15:04:05Z"`, `"started":5`, `"started" is no text: want a time such as "2026-01-02T15:04:05Z"`},
	{`"planned":60`, `"planned":"60"`, `"planned" is a text: want a whole number that fits in 64 bits`},
	{`{"name":"b"}`, `{"name":7}`, `"subjects.name" is a number: want a text`},
	{`"rate":"500..2000"`, `"rate":500`, `"rate" is a number: want a text`},

	{`"round":2`, `"round":`, `the line is no JSON: it has ',' where a value is to begin`},
	{`"round":2`, `"round" 2`, `the line is no JSON: it has '2' where a colon is to stand`},
	{`"round":2`, `round:2`, `the line is no JSON: it has 'r' where a name in quotes is to stand`},
	{`"round":2`, `"round":2 3`, `the line is no JSON: it has '3' where a comma or the closing } is to stand`},
	{`[1000,2000]`, `[1000 2000]`, `the line is no JSON: it has '2' where a comma or the closing ] is to stand`},
	{`"round":2`, `"round":-x`, `the line is no JSON: it has 'x' in a number`},
	{`"round":2`, `"round":tru`, `the line is no JSON: it has ',' in what is to be true, false or null`},
	{`"message":"late"`, `"message":"\x"`, `the line is no JSON: it has 'x' behind a \ in a text`},
	{`"message":"late"`, "\"message\":\"\t\"", `the line is no JSON: it has '\t' in a text, where it can't stand`},
	{`"message":"late"`, `"message":"\u00zz"`, `the line is no JSON: it has 'z' where a digit of \u is to stand`},
}

// TestReadRefusesWhatNoRunWrites changes one thing of a file that is fine, and wants to be told of it.
func TestReadRefusesWhatNoRunWrites(t *testing.T) {
	good := wholeHeader + "\n" + wholeLine + "\n"
	if f, err := Read(strings.NewReader(good), "f"); err != nil || len(f.Trials) != 1 {
		t.Fatalf("%d trials, %v", len(f.Trials), err)
	}
	for _, row := range hostile {
		n := 0
		for i, line := range []string{wholeHeader, wholeLine} {
			bad := strings.Replace(line, row.from, row.to, 1)
			if bad == line {
				continue
			}
			n++
			lines := []string{wholeHeader, wholeLine}
			lines[i] = bad
			who, mend := "the header: ", mendHeader
			if i == 1 {
				who, mend = "a trial of a, round 2: ", mendTrial
			}
			_, err := Read(strings.NewReader(strings.Join(lines, "\n")+"\n"), "f")
			if err == nil {
				t.Errorf("%s: accepted", row.to)
				continue
			}
			where, what, ok := strings.Cut(err.Error(), ": ")
			if !ok || !strings.HasPrefix(where, fmt.Sprintf("f:%d:", i+1)) || strings.Count(where, ":") != 2 {
				t.Errorf("%s: %q is no place in line %d", row.to, where, i+1)
			}
			noName := strings.HasPrefix(row.want, "the line is no JSON") || strings.HasPrefix(row.want, `"round"`)
			if !strings.HasPrefix(strings.TrimPrefix(what, who), row.want) && !(noName && strings.Contains(what, row.want)) {
				t.Errorf("%s: got  %s\nwant %s%s", row.to, what, who, row.want)
			}
			if !noName && !strings.HasPrefix(what, who) {
				t.Errorf("%s: %s: does not say which line that is", row.to, what)
			}
			if !strings.HasSuffix(what, mend) {
				t.Errorf("%s: %s: does not say what mends it", row.to, what)
			}
			if strings.Contains(what, "json:") || strings.Contains(what, "Go ") || strings.Contains(what, "Trial") {
				t.Errorf("%s: %s: speaks of Go", row.to, what)
			}
		}
		if n == 0 {
			t.Errorf("%s: stands in no line", row.from)
		}
	}
}

// TestReadTakesWhatRunsWrite has what looks odd and is not.
func TestReadTakesWhatRunsWrite(t *testing.T) {
	for _, row := range []struct{ from, to string }{
		{`"store_ops_read":-3`, `"store_ops_read":-1e15`}, // the store began anew
		{`"throughput":1.5`, `"throughput":0`},
		{`"throughput":1.5`, `"something_new":12`},
		{`"elapsed":2.5,`, ``},
		{`"started":"2026-01-02T15:04:05Z",`, ``},
		{`"started":"2026-01-02`, `"started":"1970-01-01`}, // a machine without a clock
		{`"turns":5,"turns_made":4`, `"turns_made":1`},
		{`"mode":"open","rate":"500..2000"`, `"mode":"closed"`},
		{`"500..2000"`, `"500/1000/700"`},
		{`"order":3,`, ``},
		{`"concurrency":50,"conns":1`, `"concurrency":100000,"conns":20000`},
	} {
		bad := strings.Replace(wholeLine, row.from, row.to, 1)
		if bad == wholeLine {
			t.Errorf("%s: stands in no line", row.from)
		}
		if f, err := Read(strings.NewReader(wholeHeader+"\n"+bad+"\n"), "f"); err != nil || len(f.Trials) != 1 {
			t.Errorf("%s: %v", row.to, err)
		}
	}
	failed := `{"kind":"bakeoff-trial","subject":"a","round":1,"window":0,"messages":0,"outcomes":{"started":9,"ok":3,"cut_off":0,"dropped":0},"error":"the server died"}`
	if f, err := Read(strings.NewReader(wholeHeader+"\n"+failed+"\n"), "f"); err != nil || len(f.Trials) != 1 {
		t.Errorf("a trial that failed: %v", err)
	}
}
