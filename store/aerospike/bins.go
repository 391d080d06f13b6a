package aerospike

import (
	"math"
	"sort"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"bakeoff/service"
)

// toBins checks and converts what is to be written. Bins go in the order of their names, so that equal records make
// equal messages.
func toBins(bins service.Bins) ([]*as.Bin, error) {
	if len(bins) == 0 {
		return nil, service.Errorf(service.Internal, "store: a record needs at least one bin")
	}
	out := make([]*as.Bin, 0, len(bins))
	for name, v := range bins {
		switch v := v.(type) {
		case int64:
			out = append(out, as.NewBin(name, v))
		case string:
			out = append(out, as.NewBin(name, v))
		case []string:
			list := make([]any, len(v))
			for i, e := range v {
				list[i] = e
			}
			out = append(out, as.NewBin(name, list))
		default:
			return nil, service.Errorf(service.Internal, "store: bin %s holds %T; use int64, string or []string", name, v)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// fromRecord converts what was read. The client's map is taken over, not copied: nobody else has it.
func fromRecord(r *as.Record) (service.Record, error) {
	if r == nil {
		return service.Record{}, nil
	}
	for name, v := range r.Bins {
		switch v := v.(type) {
		case int:
			r.Bins[name] = int64(v)
		case int64, string:
		case []any:
			list, err := stringList(name, v)
			if err != nil {
				return service.Record{}, err
			}
			r.Bins[name] = list
		default:
			return service.Record{}, foreign(name, v)
		}
	}
	return service.Record{Bins: service.Bins(r.Bins), Generation: r.Generation}, nil
}

func stringList(bin string, values []any) ([]string, error) {
	list := make([]string, len(values))
	for i, v := range values {
		text, ok := v.(string)
		if !ok {
			return nil, foreign(bin, v)
		}
		list[i] = text
	}
	return list, nil
}

func foreign(bin string, v any) error {
	e := service.Errorf(service.Internal, "store: bin %s holds a %T, which was not written by this program", bin, v)
	e.Cause = ClassRefused
	return e
}

// expiration is a ttl as the client has it: whole seconds, rounded up, and a number of its own for ever. What is too
// long for the 32 bits is left to the server to refuse.
func expiration(ttl time.Duration) uint32 {
	if ttl <= 0 {
		return as.TTLDontExpire
	}
	seconds := (ttl + time.Second - 1) / time.Second
	return uint32(min(seconds, math.MaxInt32))
}
