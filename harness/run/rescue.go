package run

import (
	"time"

	"bakeoff/harness/control"
	"bakeoff/harness/result"
)

// awaitTurn is the stage between turns, of which so many are over.
func (f *family) awaitTurn(over int) {
	if over == f.turns() {
		f.reach("after " + turnOf(over, f.turns()) + " was measured")
		return
	}
	f.reach("while it waited for " + turnOf(over+1, f.turns()))
}

// unreported is the class of calls that failed in a driver that did not live to say of what.
const unreported = "unreported"

// keep notes the calls that the driver tells of, in case that it tells no more.
func (f *family) keep(line control.Line) {
	n := func(name string) uint64 { return uint64(max(0, line.Counters[name])) }
	if line.Event == control.Done {
		f.kept.CutOff, f.kept.Dropped = n(control.CutOff), n(control.Dropped)
	}
	f.kept.OK, f.kept.Failed = n(control.OK), nil
	if failed := n(control.Failed); failed > 0 {
		f.kept.Failed = map[string]uint64{unreported: failed}
	}
	f.kept.Started = f.kept.OK + f.kept.FailedTotal() + f.kept.CutOff
}

// rescue saves what a trial that has failed has measured so far: as its driver reports it, where that is able to, else as it has told last.
func (f *family) rescue() {
	if f.reporting {
		if f.out.Outcomes.Started == 0 { // else the report has come, with what is wrong with it
			f.out.Outcomes = f.kept
		}
		return
	}
	f.out.Outcomes = f.kept
	if !f.ready || f.driver == f.blamed || f.driver.isOf(f.err) || f.run.Err() != nil {
		return
	}
	if f.driver.say(control.Line{Event: control.Report}, f.Timeouts.Rescue) != nil {
		return
	}
	limit := time.Now().Add(f.Timeouts.Rescue)
	for {
		line, err := f.driver.hear(f.run, waiting{event: control.Result, others: []string{control.SoFar, control.Done}, timeout: time.Until(limit),
			look: f.Timeouts.Look, when: always("before it had reported")})
		switch {
		case err != nil: // what it had told before stands; f.err is why the trial has failed
			return
		case line.Event == control.Result:
			saved := f.out
			saved.Outcomes = result.Outcomes{} // JSON would add to its map
			// merge's error is what the driver doubts; f.err goes before it.
			if _ = merge(&saved, line.Trial, f.trial); saved.Outcomes.Started >= f.kept.Started {
				f.out = saved
			}
			return
		}
		f.keep(line)
		f.out.Outcomes = f.kept
	}
}
