package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"bakeoff/protocol"
	"bakeoff/protocol/suite"
	"bakeoff/service"
)

// behind is what a server answers by: the rules over a store, or, of a front, the client of its backend.
type behind struct {
	api   service.API
	serve func(ctx context.Context, l net.Listener, api service.API, o protocol.Options) error
	store string // as the server sees it; "" where it sees none
	words string
	ends  io.Closer
}

// Close may be called of one that was not opened.
func (b behind) Close() {
	if b.ends != nil {
		_ = b.ends.Close() // what it carried has ended
	}
}

// open opens it, for so many calls at a time as o says.
func (f serveFlags) open(ctx context.Context, p protocol.Protocol, o protocol.Options, clients map[string]string) (behind, error) {
	if f.backend != "" && p.Backend.Front != nil {
		serve := func(ctx context.Context, l net.Listener, _ service.API, o protocol.Options) error {
			return p.Backend.Front(ctx, l, f.backend, o)
		}
		return behind{serve: serve, words: fmt.Sprintf("backend: %s at %s", p.Backend.Protocol.Name, f.backend)}, nil
	}
	if f.backend != "" {
		c, err := p.Backend.Dial(ctx, f.backend, o)
		if err != nil {
			return behind{}, err
		}
		return behind{api: c, serve: p.Backend.Serve, words: fmt.Sprintf("backend: %s at %s", p.Backend.Protocol.Name, f.backend), ends: c}, nil
	}
	store, err := openStore(ctx, f.store, o.InFlight)
	if err != nil {
		return behind{}, err
	}
	b := behind{serve: p.Serve, store: store.Describe(), words: "store: " + store.Describe(), ends: store}
	if asksNothing(p) { // its figures stand beside those of servers that ask the store
		b.words = "no store"
		return b, nil
	}
	api, err := service.New(ctx, store, service.Config{Auth: f.auth, Clients: clients, TokenTTL: f.tokenTTL})
	if err != nil {
		b.Close()
		return behind{}, fmt.Errorf("start the service on store %s: %w", f.store, err)
	}
	b.api = api
	return b, nil
}

// asksNothing says that a server answers by itself, by nothing of ours: no call passes through the rules, and none reaches a store.
func asksNothing(p protocol.Protocol) bool { return p.Apart && p.Backend == nil }

// checkAlone refuses flags that are about the rules for a server that has none.
func checkAlone(p protocol.Protocol, given func(flag string) bool) error {
	if !asksNothing(p) {
		return nil
	}
	for _, flag := range []string{"store", "auth", "client", "token-ttl", "slow"} {
		if given(flag) {
			return fmt.Errorf("--%s: %s answers by itself, without a store, tokens or steps: leave it away", flag, p.Name)
		}
	}
	return nil
}

// checkBackend says what is wrong with --backend, and with flags that are about what it answers.
func (f serveFlags) checkBackend(ctx context.Context, p protocol.Protocol, given func(flag string) bool) error {
	if f.backend == "" {
		return nil
	}
	if p.Backend == nil {
		var fronts []string
		for _, p := range slices.Concat(suite.Fronts, suite.PHP) {
			if p.Backend != nil {
				fronts = append(fronts, p.Name)
			}
		}
		return fmt.Errorf("--backend %s: %s answers by itself: fronts ask a backend (%s)", f.backend, p.Name, strings.Join(fronts, ", "))
	}
	for _, flag := range []string{"store", "auth", "client", "token-ttl", "slow", "probe"} {
		if given(flag) {
			return fmt.Errorf("--%s: is about what is answered, which the backend does: give it to that one (serve %s)", flag, p.Backend.Protocol.Name)
		}
	}
	host, port, err := net.SplitHostPort(f.backend)
	if err == nil {
		_, err = net.DefaultResolver.LookupPort(ctx, "tcp", port)
	}
	if err != nil || host == "" || zeroPort(port) {
		return fmt.Errorf("--backend %q: must be the host:port on which a server of %s listens, such as 127.0.0.1:20000", f.backend, p.Backend.Protocol.Name)
	}
	if f.backend == f.addr {
		return fmt.Errorf("--backend %s: is where %s itself is to listen (--addr): it would ask itself without end", f.backend, p.Name)
	}
	return nil
}
