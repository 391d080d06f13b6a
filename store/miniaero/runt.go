package miniaero

// TB is what RunT needs of a test: *testing.T and *testing.B have it.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// RunT starts a server for a test, at a free port of the loopback, and closes it with the test. At most one
// Options may be given.
func RunT(t TB, options ...Options) *Server {
	t.Helper()
	var o Options
	switch len(options) {
	case 0:
	case 1:
		o = options[0]
	default:
		t.Fatalf("miniaero.RunT: %d Options were given, want at most one", len(options))
	}
	s, err := Listen("127.0.0.1:0", o)
	if err != nil {
		t.Fatalf("miniaero.RunT: %v", err)
		return nil
	}
	t.Cleanup(func() { s.Close() })
	return s
}
