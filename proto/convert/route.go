package convert

import (
	"unicode/utf8"

	"bakeoff/proto/routeguide"
	"bakeoff/service"
)

// WirePoint makes a point.
func WirePoint(p service.Point) *routeguide.Point {
	return &routeguide.Point{Latitude: p.Latitude, Longitude: p.Longitude}
}

// Point reads a point.
func Point(m *routeguide.Point) service.Point {
	return service.Point{Latitude: m.GetLatitude(), Longitude: m.GetLongitude()}
}

// WireRectangle makes a rectangle.
func WireRectangle(r service.Rectangle) *routeguide.Rectangle {
	return &routeguide.Rectangle{Lo: WirePoint(r.Lo), Hi: WirePoint(r.Hi)}
}

// Rectangle reads a rectangle; a corner that is missing is the point 0, 0.
func Rectangle(m *routeguide.Rectangle) service.Rectangle {
	return service.Rectangle{Lo: Point(m.GetLo()), Hi: Point(m.GetHi())}
}

// feature and note are a message and its place in one allocation.
type feature struct {
	feature routeguide.Feature
	place   routeguide.Point
}

type note struct {
	note  routeguide.RouteNote
	place routeguide.Point
}

// WireFeature makes a feature.
func WireFeature(f service.Feature) *routeguide.Feature {
	m := new(feature)
	m.place.Latitude, m.place.Longitude = f.Location.Latitude, f.Location.Longitude
	m.feature.Name, m.feature.Location = f.Name, &m.place
	return &m.feature
}

// Feature reads a feature.
func Feature(m *routeguide.Feature) service.Feature {
	return service.Feature{Name: m.GetName(), Location: Point(m.GetLocation())}
}

// WireNote makes a note.
func WireNote(n service.RouteNote) *routeguide.RouteNote {
	m := new(note)
	m.place.Latitude, m.place.Longitude = n.Location.Latitude, n.Location.Longitude
	m.note.Message, m.note.Location = n.Message, &m.place
	return &m.note
}

// Note reads a note; it refuses a message that is not UTF-8.
func Note(m *routeguide.RouteNote) (service.RouteNote, error) {
	n := service.RouteNote{Location: Point(m.GetLocation()), Message: m.GetMessage()}
	if !utf8.ValidString(n.Message) {
		return n, notUTF8("message")
	}
	return n, nil
}

// WireSummary makes the summary of a route.
func WireSummary(s service.RouteSummary) *routeguide.RouteSummary {
	return &routeguide.RouteSummary{
		PointCount: s.PointCount, FeatureCount: s.FeatureCount, Distance: s.Distance, ElapsedTime: s.ElapsedTime,
	}
}

// Summary reads the summary of a route.
func Summary(m *routeguide.RouteSummary) service.RouteSummary {
	return service.RouteSummary{
		PointCount: m.GetPointCount(), FeatureCount: m.GetFeatureCount(), Distance: m.GetDistance(), ElapsedTime: m.GetElapsedTime(),
	}
}
