package plan

import "bakeoff/internal/nearest"

// All lists the experiments in the order in which help shows them. The first is what runs when none is named.
func All() []Experiment {
	return []Experiment{dataType, stacks, reflection, gateway, connections, payload, compression, levels, tls}
}

// Find returns the experiment of that name. The error for an unknown one has the names that there are, and the
// nearest.
func Find(name string) (Experiment, error) {
	var names []string
	for _, e := range All() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Experiment{}, nearest.Unknown("experiment", name, names)
}
