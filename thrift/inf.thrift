// The service Data of the published gRPC-Thrift bake-off: names, numbers and required flags are those of the
// published IDL, so that a client generated from it talks to our server. Three things are added, all of which
// leave such a client working: the methods Login and Echo, and a declared exception. The exception travels in a field of
// the result of its own, which a published client skips (and then reports a missing result).

namespace go inf
namespace java inf
namespace py inf
namespace php inf

struct AuthRq {
  1: string clientId
  2: string token
}

struct AuthRp {
  1: required string token
}

struct DataTypeRq {
  1: required AuthRq authrq
  2: required string groupName
  3: required string enName
}

struct DataTypeRp {
  1: required AuthRp authrp
  2: required i64 codeId
  3: required string CnName
}

struct LoginRq {
  1: required string clientId
  2: required string secret
}

struct LoginRp {
  1: required string token
  // When the token stops being accepted: milliseconds since 1970, UTC.
  2: required i64 expiresUnixMs
}

// A message of any size.
struct Payload {
  1: required string text
  2: required binary data
}

// A failure that the service reports; the codes are 1 invalid argument, 2 unauthenticated, 3 not found,
// 4 unavailable, 5 deadline exceeded, 6 resource exhausted, 7 internal.
exception ServiceError {
  1: required i32 code
  2: required string message
  // What the failure came from, more closely than the code says: 1 to 64 of a-z, 0-9 and _ ("store_timeout"). Absent
  // where nothing closer is known; anything else counts as absent.
  3: optional string cause
}

service Data {
  DataTypeRp DataType(1: DataTypeRq dataTypeRq) throws (1: ServiceError failure)
  LoginRp Login(1: LoginRq loginRq) throws (1: ServiceError failure)
  // Answers with what it was given, and looks at none of it.
  Payload Echo(1: Payload payload) throws (1: ServiceError failure)
}
