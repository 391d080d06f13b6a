package admin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ErrForeign is in the chain of an error when something answers at the address, but not as a listener of this package.
var ErrForeign = errors.New("it is no admin listener of bakeoff")

// maxAnswer bounds an answer that is read, in bytes: the options of a server are some hundred.
const maxAnswer = 1 << 20

// Client asks one listener. It may be used concurrently.
type Client struct {
	http *http.Client
	base string
	info Info
}

// Dial asks the listener at host:port what it is. Its name is looked up once: readings of one run are of one process.
func Dial(ctx context.Context, addr string) (*Client, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	at := conn.RemoteAddr().String()
	conn.Close()
	// No proxy: what it says of a loopback address would be its own. No answer is compressed: that would be work of the measured process.
	c := &Client{base: "http://" + at, http: &http.Client{
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 1},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if err := c.ask(ctx, "/info", &c.info); err != nil {
		c.Close()
		return nil, notHTTP(ctx, err)
	}
	if err := c.info.check(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (i Info) check() error {
	switch {
	case i.Kind != Kind:
		return fmt.Errorf("%w: its /info has kind %.40q", ErrForeign, i.Kind)
	case i.Schema < 1 || i.Schema > Schema:
		return fmt.Errorf("its schema is %d, and this bakeoff knows 1 to %d: use the same bakeoff on both sides", i.Schema, Schema)
	}
	return nil
}

// Info is what the listener was when it was dialled.
func (c *Client) Info() Info { return c.info }

// Close lets go of the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Usage reads the meters. At is on the clock of the process that answers, so that differences of two are right and nothing
// else is.
func (c *Client) Usage(ctx context.Context) (Usage, error) {
	var u *Usage
	if err := c.ask(ctx, "/usage", &u); err != nil {
		return Usage{}, err
	}
	if u == nil {
		return Usage{}, fmt.Errorf("%w: its /usage is empty", ErrForeign)
	}
	u.At = time.Unix(0, 0).Add(u.Uptime)
	return *u, nil
}

// ask gets a JSON answer. A refusal's text is the listener's own and becomes the error.
func (c *Client) ask(ctx context.Context, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return err
	}
	switch {
	case answer.StatusCode == http.StatusServiceUnavailable:
		return fmt.Errorf("%s: %s", path, oneLine(b))
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("%w: %s is answered with HTTP %s", ErrForeign, path, answer.Status)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrForeign, path, err)
	}
	return nil
}

// notHTTP is the error of the first question to what has just been connected to. What is not an answer of HTTP and did not come too late
// says that something else listens there; net/http has no type for its many words for that.
func notHTTP(ctx context.Context, err error) error {
	var failed *url.Error
	var dial *net.OpError
	if ctx.Err() != nil || !errors.As(err, &failed) || errors.As(err, &dial) && dial.Op == "dial" {
		return err
	}
	return fmt.Errorf("%w: it does not speak HTTP", ErrForeign)
}

func oneLine(b []byte) string {
	b = bytes.TrimSpace(b[:min(len(b), 500)])
	return strings.ReplaceAll(string(b), "\n", "; ")
}

// examinable is how long a listener is given to start a server to be examined: as long as a run gives a server of its own.
const examinable = 30 * time.Second

// orCause is why ctx ended where it has, else err.
func orCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Examine has a server like that of the listener started, calls use with its port, and has it ended.
func (c *Client) Examine(ctx context.Context, use func(ctx context.Context, port int) error) error {
	return c.examine(ctx, examinable, use)
}

func (c *Client) examine(ctx context.Context, limit time.Duration, use func(ctx context.Context, port int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(limit, func() {
		cancel(fmt.Errorf("it was asked to start a server to be examined, and answered nothing within %v: its process is stopped, or hangs", limit))
	})
	defer late.Stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/examine", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return orCause(ctx, err)
	}
	defer answer.Body.Close()
	in := bufio.NewReader(io.LimitReader(answer.Body, maxAnswer))
	line, err := in.ReadBytes('\n')
	if err != nil && len(line) == 0 {
		return orCause(ctx, fmt.Errorf("its answer ended too early: %w", err))
	}
	late.Stop()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %s: %s", answer.Status, oneLine(line))
	}
	var e Examination
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("its answer: %w", err)
	}
	if e.Error != "" || e.Port < 1 || e.Port > 65535 {
		return fmt.Errorf("it could not start a server to be examined: %s", oneLine([]byte(e.Error)))
	}
	// The answer stays open: its end is the end of the other server, whose calls would then only say that it is gone.
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, in)
		cancel(errors.New("the server to be examined has ended"))
	}()
	err = use(ctx, e.Port)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	cancel(nil)
	<-ended
	return err
}
