package workload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"bakeoff/harness/load"
	"bakeoff/service"
)

// Payloads are one unary call with bodies of six sizes, the smallest first: as text, then as bytes. A body of 0 bytes is neither.
var Payloads = []Workload{
	payload("payload-0", 0, nothing), payload("payload-100", 100, text), payload("payload-1k", 1<<10, text),
	payload("payload-10k", 10<<10, text), payload("payload-100k", 100<<10, text), payload("payload-1m", 1<<20, text),
	payload("payload-100-bytes", 100, binary), payload("payload-1k-bytes", 1<<10, binary),
	payload("payload-10k-bytes", 10<<10, binary), payload("payload-100k-bytes", 100<<10, binary), payload("payload-1m-bytes", 1<<20, binary),
}

// form is what a body of n bytes is made of.
type form struct {
	words string
	body  func(n int) service.Payload
}

var (
	nothing = form{"an empty body", func(int) service.Payload { return service.Payload{} }}
	text    = form{"%d bytes of text, of English words", func(n int) service.Payload { return service.Payload{Text: words(n)} }}
	binary  = form{"%d bytes of every value at random", func(n int) service.Payload { return service.Payload{Data: noise(n)} }}
)

// payload makes the echo of a body. It asks no store and sends no token: what it costs is the carrying. The same body goes with
// every call of every protocol: making others would be work of the driver's within the measured call.
func payload(name string, n int, f form) Workload {
	doc := f.words
	if n > 0 {
		doc = fmt.Sprintf(f.words, n)
	}
	return Workload{
		Name:     name,
		Doc:      "an echo of " + doc,
		Steps:    []string{"payload"},
		Calls:    []service.Call{service.CallEcho},
		Messages: 1,
		Asks:     map[string]float64{},
		NoAuth:   noRoomForToken,
		Start: func(_ context.Context, api service.API, s Settings) ([]load.Call, error) {
			if s.Auth {
				return nil, errors.New(noRoomForToken)
			}
			sent := f.body(n)
			return one(func(ctx context.Context, _ uint64) error {
				got, err := api.Echo(ctx, sent)
				switch {
				case err != nil:
					return err
				case got.Text != sent.Text || !bytes.Equal(got.Data, sent.Data):
					return &wrongAnswer{fmt.Sprintf("a body of %d bytes of text and %d others", len(got.Text), len(got.Data)),
						fmt.Sprintf("the one that was sent, of %d and %d", len(sent.Text), len(sent.Data))}
				}
				return nil
			})
		},
	}
}

const noRoomForToken = "an echo has no room for a token"

// vocabulary is what texts are made of: as many words as six bits can choose from, so that a text can be compressed about as well as
// prose, and no better.
var vocabulary = [64]string{
	"the", "of", "and", "to", "in", "is", "that", "it", "was", "for", "on", "are", "as", "with", "his", "they",
	"at", "be", "this", "have", "from", "or", "one", "had", "by", "word", "but", "not", "what", "all", "were", "when",
	"your", "can", "said", "there", "use", "each", "which", "their", "time", "will", "about", "many", "then", "them", "write", "would",
	"number", "water", "people", "called", "after", "between", "another", "thought", "together", "important", "children", "question", "mountain",
	"sentence", "different", "something",
}

// words are n bytes of words in a random order that is always the same, so that a part that is lost or out of place shows.
func words(n int) string {
	order := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, 0, n+16)
	for len(b) < n {
		b = append(append(b, vocabulary[order.IntN(len(vocabulary))]...), ' ')
	}
	return string(b[:n])
}

// noise is n random bytes that are always the same, and can't be compressed.
func noise(n int) []byte {
	order := rand.New(rand.NewPCG(2, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(order.Uint32())
	}
	return b
}
