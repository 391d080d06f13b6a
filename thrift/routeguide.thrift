// RouteGuide, equal to the public gRPC example but for its streams: Thrift has none, so a stream of messages is
// a list of them here. A list is complete before the call is made and before it is answered: RecordRoute and
// RouteChat take all their points or notes at once, and ListFeatures and RouteChat answer with everything at
// once. The most that a call can carry is therefore one message of the size limit.

include "inf.thrift"

namespace go routeguide
namespace java routeguide
namespace py routeguide
namespace php routeguide

// A place in units of 1e-7 degree.
struct Point {
  1: i32 latitude
  2: i32 longitude
}

// The area between two opposite corners, borders included.
struct Rectangle {
  1: Point lo
  2: Point hi
}

// A named place; an empty name says that nothing is known at the location.
struct Feature {
  1: string name
  2: Point location
}

struct RouteNote {
  1: Point location
  2: string message
}

struct RouteSummary {
  1: i32 pointCount
  2: i32 featureCount
  // Metres.
  3: i32 distance
  // Whole seconds.
  4: i32 elapsedTime
}

service RouteGuide {
  Feature GetFeature(1: Point point) throws (1: inf.ServiceError failure)
  // A server stream of features in the public RouteGuide.
  list<Feature> ListFeatures(1: Rectangle rectangle) throws (1: inf.ServiceError failure)
  // A client stream of points in the public RouteGuide.
  RouteSummary RecordRoute(1: list<Point> points) throws (1: inf.ServiceError failure)
  // A stream of notes both ways in the public RouteGuide.
  list<RouteNote> RouteChat(1: list<RouteNote> notes) throws (1: inf.ServiceError failure)
}
