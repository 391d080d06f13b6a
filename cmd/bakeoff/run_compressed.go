package main

import (
	"maps"

	"bakeoff/protocol"
)

// uncompressed is the subject of this run that differs from one that compresses in compressing nothing; "" where there is none.
func (j *job) uncompressed(name string) string {
	p := j.subjects[name]
	own, compresses := withoutCompression(p)
	if !compresses {
		return ""
	}
	for _, other := range j.settings.Subjects {
		q := j.subjects[other]
		if plain, squeezed := withoutCompression(q); !squeezed && q.Name == p.Name && (q.TLS == nil) == (p.TLS == nil) && maps.Equal(plain, own) {
			return other
		}
	}
	return ""
}

// withoutCompression are the options of a subject's own without that of compression, and whether it compresses.
func withoutCompression(p protocol.Protocol) (knobs map[string]string, compresses bool) {
	knobs = maps.Clone(p.Tuning.Knobs)
	value := knobs[protocol.KnobCompression]
	delete(knobs, protocol.KnobCompression)
	return knobs, value != "" && value != protocol.NoCompression
}
