package conformance

import "slices"

// probeVector comes first: without the probe nothing else can be asked.
const probeVector = "probe"

// Vectors are all the vectors, in the order in which they run.
var Vectors = slices.Concat(dataVectors, authVectors, sizeVectors, timeVectors, connVectors, routeVectors, streamVectors)
