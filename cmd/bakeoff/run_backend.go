package main

import (
	"encoding/json"
	"maps"

	"bakeoff/harness/plan"
	harness "bakeoff/harness/run"
	"bakeoff/protocol"
)

// front is the command line of a trial's server: one that answers by itself, over the store behind it, or a front of the backend there.
func (j *job) front(t plan.Trial, behind string) harness.Command {
	p := j.subjects[t.Subject]
	if p.Backend == nil {
		return j.server(t, behind, false)
	}
	args := []string{"serve", p.Name, "--control", "--backend", behind, "--options", marshalled(j.options(t))}
	if !p.Apart {
		args = append(args, plantedArgs(j.extra[t.Subject])...)
	}
	return harness.Command{Args: args}
}

// backend is the command line of what a trial's front asks; nil where the server answers by itself. When it is held to the
// conformance kit a front has its backend within it: the same code and options, over a socket too.
func (j *job) backend(t plan.Trial, store string) *harness.Command {
	o := j.behind(t)
	if o == nil {
		return nil
	}
	p := j.subjects[t.Subject]
	c := j.answering(p.Backend.Protocol.Name, *o, store, false)
	if p.Apart { // nothing can be planted in what is none of ours: it waits for what is behind
		c.Args = append(c.Args, plantedArgs(j.extra[t.Subject])...)
	}
	return &c
}

// behind are the options of the hop of a trial's server; nil where it has none.
func (j *job) behind(t plan.Trial) *protocol.Options {
	b := j.subjects[t.Subject].Backend
	if b == nil {
		return nil
	}
	o, err := b.Options(j.options(t))
	if err != nil {
		panic(err) // they were checked when the subject was found
	}
	return &o
}

// asks is what a call of a trial asks of the store.
func (j *job) asks(t plan.Trial) map[string]float64 {
	if asksNothing(j.subjects[t.Subject]) {
		return map[string]float64{}
	}
	return j.workloads[t.Workload].Asks
}

// alone is the subject of this run that differs from a front in having no hop; "" where there is none.
func (j *job) alone(name string) string {
	p := j.subjects[name]
	if p.Backend == nil {
		return ""
	}
	own := p.Backend.Own(p.Options(1, 1)).Knobs
	for _, other := range j.settings.Subjects {
		q := j.subjects[other]
		if q.Backend == nil && q.Name == p.Backend.Alone && (q.TLS == nil) == (p.TLS == nil) && maps.Equal(q.Options(1, 1).Knobs, own) {
			return other
		}
	}
	return ""
}

func marshalled(o protocol.Options) string {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // numbers and strings always marshal
	}
	return string(b)
}
