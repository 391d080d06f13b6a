package wire

import (
	"bakeoff/service"
	"bakeoff/thrift/gen/routeguide"
)

// EncodePoint makes a point.
func EncodePoint(p service.Point) *routeguide.Point {
	return &routeguide.Point{Latitude: p.Latitude, Longitude: p.Longitude}
}

// DecodePoint reads a point; an absent one is at 0, 0, as in proto3.
func DecodePoint(m *routeguide.Point) service.Point {
	if m == nil {
		return service.Point{}
	}
	return service.Point{Latitude: m.Latitude, Longitude: m.Longitude}
}

// EncodeRectangle makes a rectangle.
func EncodeRectangle(r service.Rectangle) *routeguide.Rectangle {
	return &routeguide.Rectangle{Lo: EncodePoint(r.Lo), Hi: EncodePoint(r.Hi)}
}

// DecodeRectangle reads a rectangle; an absent corner is at 0, 0.
func DecodeRectangle(m *routeguide.Rectangle) service.Rectangle {
	if m == nil {
		return service.Rectangle{}
	}
	return service.Rectangle{Lo: DecodePoint(m.Lo), Hi: DecodePoint(m.Hi)}
}

// EncodeFeature makes a feature.
func EncodeFeature(f service.Feature) *routeguide.Feature {
	return &routeguide.Feature{Name: f.Name, Location: EncodePoint(f.Location)}
}

// DecodeFeature reads a feature.
func DecodeFeature(m *routeguide.Feature) service.Feature {
	if m == nil {
		return service.Feature{}
	}
	return service.Feature{Name: m.Name, Location: DecodePoint(m.Location)}
}

// SizeFeature is the upper bound of GetFeature's answer.
func SizeFeature(f service.Feature) int { return perMessage + len(f.Name) }

// EncodeFeatures makes the answer of ListFeatures.
func EncodeFeatures(all []service.Feature) []*routeguide.Feature {
	type feature struct {
		routeguide.Feature
		at routeguide.Point
	}
	made, list := make([]feature, len(all)), make([]*routeguide.Feature, len(all))
	for i, f := range all {
		made[i].Name = f.Name
		made[i].at = routeguide.Point{Latitude: f.Location.Latitude, Longitude: f.Location.Longitude}
		made[i].Location = &made[i].at
		list[i] = &made[i].Feature
	}
	return list
}

// SizeFeatures is the upper bound of the answer of ListFeatures.
func SizeFeatures(all []service.Feature) int {
	n := perMessage + perElement*len(all)
	for _, f := range all {
		n += len(f.Name)
	}
	return n
}

// EncodePoints makes the argument of RecordRoute.
func EncodePoints(all []service.Point) []*routeguide.Point {
	made, list := make([]routeguide.Point, len(all)), make([]*routeguide.Point, len(all))
	for i, p := range all {
		made[i] = routeguide.Point{Latitude: p.Latitude, Longitude: p.Longitude}
		list[i] = &made[i]
	}
	return list
}

// SizePoints is the upper bound of the argument of RecordRoute.
func SizePoints(all []service.Point) int { return perMessage + perElement*len(all) }

// EncodeNotes makes the argument and the answer of RouteChat.
func EncodeNotes(all []service.RouteNote) []*routeguide.RouteNote {
	type note struct {
		routeguide.RouteNote
		at routeguide.Point
	}
	made, list := make([]note, len(all)), make([]*routeguide.RouteNote, len(all))
	for i, n := range all {
		made[i].Message = n.Message
		made[i].at = routeguide.Point{Latitude: n.Location.Latitude, Longitude: n.Location.Longitude}
		made[i].Location = &made[i].at
		list[i] = &made[i].RouteNote
	}
	return list
}

// SizeNotes is the upper bound of the argument and the answer of RouteChat.
func SizeNotes(all []service.RouteNote) int {
	n := perMessage + perElement*len(all)
	for _, note := range all {
		n += len(note.Message)
	}
	return n
}

// DecodeNote reads a note.
func DecodeNote(m *routeguide.RouteNote) service.RouteNote {
	if m == nil {
		return service.RouteNote{}
	}
	return service.RouteNote{Location: DecodePoint(m.Location), Message: m.Message}
}

// EncodeSummary makes the answer of RecordRoute.
func EncodeSummary(s service.RouteSummary) *routeguide.RouteSummary {
	return &routeguide.RouteSummary{
		PointCount: s.PointCount, FeatureCount: s.FeatureCount, Distance: s.Distance, ElapsedTime: s.ElapsedTime,
	}
}

// DecodeSummary reads the answer of RecordRoute.
func DecodeSummary(m *routeguide.RouteSummary) service.RouteSummary {
	if m == nil {
		return service.RouteSummary{}
	}
	return service.RouteSummary{
		PointCount: m.PointCount, FeatureCount: m.FeatureCount, Distance: m.Distance, ElapsedTime: m.ElapsedTime,
	}
}

// DecodeAll reads a list into a sequence, element by element as it is consumed.
func DecodeAll[M, V any](list []M, decode func(M) V) func(yield func(V, error) bool) {
	return func(yield func(V, error) bool) {
		for _, m := range list {
			if !yield(decode(m), nil) {
				return
			}
		}
	}
}
