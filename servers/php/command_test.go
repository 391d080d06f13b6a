package php

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCommand: what the scripts are told by their environment, whatever this process has in its own.
func TestCommand(t *testing.T) {
	for _, name := range []string{"IDLE", "MAX_MESSAGE", "LISTEN", "LISTEN_FD", "WORKERS", "BACKEND", "BACKEND_ADDR", "BACKEND_REUSE", "BACKEND_TIMEOUT", "PHP_CLI_SERVER_WORKERS"} {
		t.Setenv(name, "of mine")
	}
	for _, row := range []struct {
		name   string
		config Config
		want   map[string]string
	}{
		{"the defaults", Config{Server: Workers, Count: 4, Backend: None}, map[string]string{"LISTEN": "127.0.0.1:0", "LISTEN_FD": "", "WORKERS": "4", "BACKEND": "none",
			"BACKEND_ADDR": "", "BACKEND_REUSE": "0", "BACKEND_TIMEOUT": "10000", "MAX_MESSAGE": "", "IDLE": ""}},
		{"all of them", Config{Server: Workers, Addr: "127.0.0.1:8", Count: 9, Backend: GRPC, BackendAddr: "127.0.0.1:7", Reuse: true, Timeout: 1500 * time.Millisecond,
			MaxMessage: 5 << 30, Idle: 90 * time.Second}, map[string]string{"LISTEN": "127.0.0.1:8", "WORKERS": "9", "BACKEND": "grpc", "BACKEND_ADDR": "127.0.0.1:7",
			"BACKEND_REUSE": "1", "BACKEND_TIMEOUT": "1500", "MAX_MESSAGE": "5368709120", "IDLE": "90"}},
		{"PHP's own server", Config{Server: CLIServer, Count: 3, Backend: HTTP, BackendAddr: "127.0.0.1:7", MaxMessage: 1}, map[string]string{"PHP_CLI_SERVER_WORKERS": "3",
			"BACKEND": "http", "BACKEND_REUSE": "0", "MAX_MESSAGE": "1"}},
	} {
		if err := row.config.check(); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		env := row.config.command(t.Context(), "/scripts").Env
		slices.Reverse(env) // the last of a name counts
		for name, want := range row.want {
			i := slices.IndexFunc(env, func(s string) bool { return strings.HasPrefix(s, name+"=") })
			if i < 0 || env[i] != name+"="+want {
				t.Errorf("%s: %s is not %q: %q", row.name, name, want, env[max(i, 0)])
			}
		}
	}
	for want, c := range map[string]Config{
		"largest message -1":        {Server: Workers, Count: 1, Backend: None, MaxMessage: -1},
		"idle 1.5s":                 {Server: Workers, Count: 1, Backend: None, Idle: 1500 * time.Millisecond},
		"idle -1s":                  {Server: Workers, Count: 1, Backend: None, Idle: -time.Second},
		"timeout -1ms":              {Server: Workers, Count: 1, Backend: None, Timeout: -time.Millisecond},
		"1000 processes":            {Server: Workers, Count: 1000, Backend: None},
		`backend none at "x:1"`:     {Server: Workers, Count: 1, Backend: None, BackendAddr: "x:1"},
		`address "127.0.0.1:http"`:  {Server: Workers, Count: 1, Backend: None, Addr: "127.0.0.1:http"},
		`address "127.0.0.1:65536"`: {Server: Workers, Count: 1, Backend: None, Addr: "127.0.0.1:65536"},
	} {
		if err := c.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want %s", c, err, want)
		}
	}
}
