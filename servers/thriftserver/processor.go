package thriftserver

import (
	"context"
	"maps"

	"bakeoff/service"
	"bakeoff/thrift/gen/inf"
	"bakeoff/thrift/gen/routeguide"
	"bakeoff/thrift/stack"

	"github.com/apache/thrift/lib/go/thrift"
)

// processors makes the processor of each connection.
type processors struct {
	calls context.Context // what handlers run under
	api   service.API
	stack *stack.Stack
}

// GetProcessor is called once a connection; t is what the acceptor returned.
func (f processors) GetProcessor(t thrift.TTransport) thrift.TProcessor {
	c := t.(*conn)
	return &processor{calls: f.calls, conn: c, methods: methodsOf(handler{f.api, f.stack, c})}
}

// methods are those of both services: no two of them have one name.
type methods map[string]thrift.TProcessorFunction

func methodsOf(h handler) methods {
	all := methods(inf.NewDataProcessor(h).ProcessorMap())
	maps.Copy(all, routeguide.NewRouteGuideProcessor(h).ProcessorMap())
	return all
}

// process carries out a call whose head was read. It is false where the connection is not good any more.
func (m methods) process(ctx context.Context, name string, kind thrift.TMessageType, seq int32, in, out thrift.TProtocol) bool {
	if f, known := m[name]; known && kind == thrift.CALL {
		ok, _ := f.Process(ctx, seq, in, out)
		return ok
	}
	return refuse(ctx, in, out, name, kind, seq)
}

// ProcessorMap and AddToProcessorMap are a part of thrift.TProcessor.
func (m methods) ProcessorMap() map[string]thrift.TProcessorFunction { return m }

func (m methods) AddToProcessorMap(name string, f thrift.TProcessorFunction) { m[name] = f }

// processor carries out the calls of one connection.
type processor struct {
	methods
	calls context.Context
	conn  *conn
}

// Process reads one call and answers it. It never returns an error, which the library would log, a line for each
// client that vanishes: a connection that can't go on is closed, and that is all there is to say.
//
// Its context is left aside because the library makes it of context.Background.
func (p *processor) Process(_ context.Context, in, out thrift.TProtocol) (bool, thrift.TException) {
	p.conn.Reset()
	name, kind, seq, err := in.ReadMessageBegin(p.calls)
	if err != nil {
		return false, nil
	}
	// A call that arrived along with an earlier one was read by then, so that no Read has noted it.
	if p.conn.state.Load() == idle && !p.conn.state.CompareAndSwap(idle, moving) {
		return false, nil
	}
	ok := p.process(p.calls, name, kind, seq, in, out)
	p.conn.calls.Add(1)
	if !ok || !p.conn.state.CompareAndSwap(moving, idle) {
		return false, nil
	}
	return !p.conn.acceptor.draining.Load() || !p.conn.cutIf(idle), nil
}

// refuse reads a call of a method that there is not, and says so; the connection stays good.
func refuse(ctx context.Context, in, out thrift.TProtocol, name string, kind thrift.TMessageType, seq int32) bool {
	x := thrift.NewTApplicationException(thrift.UNKNOWN_METHOD, "unknown method "+name)
	if kind != thrift.CALL {
		x = thrift.NewTApplicationException(thrift.INVALID_MESSAGE_TYPE_EXCEPTION, name+": not a call")
	}
	return in.Skip(ctx, thrift.STRUCT) == nil &&
		in.ReadMessageEnd(ctx) == nil &&
		out.WriteMessageBegin(ctx, name, thrift.EXCEPTION, seq) == nil &&
		x.Write(ctx, out) == nil &&
		out.WriteMessageEnd(ctx) == nil &&
		out.Flush(ctx) == nil
}
