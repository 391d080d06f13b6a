#!/bin/sh
# Says whether the generated code belongs to the IDL beside it. Two checks:
#  1. generated.sum holds the SHA-256 of every IDL file, generator script and generated file as they were when
#     `make generate` last ran; any that differs is stale or was edited by hand. Needs no compiler.
#  2. Where protoc and thrift are installed in the pinned versions, the code is generated anew and compared.
# With --record it writes generated.sum.
set -eu
cd "$(dirname "$0")/.."

sums() {
	find proto thrift tools/go.mod -type f \( -name '*.proto' -o -name '*.thrift' -o -name generate.sh -o -name '*.pb.go' -o -name '*.connect.go' -o -name '*.pb.gw.go' -o -name '*.yaml' -o -path 'thrift/gen/*' -o -name go.mod \) |
		LC_ALL=C sort | xargs sha256sum
}

if [ "${1:-}" = --record ]; then
	sums > tools/generated.sum
	exit 0
fi

now=$(mktemp -d)
trap 'rm -rf "$now"' EXIT
sums > "$now/sum"
if ! diff -u tools/generated.sum "$now/sum"; then
	echo "generated code is stale, or was edited by hand: run 'make generate' and commit what it changes" >&2
	exit 1
fi

if [ "$(protoc --version 2>/dev/null)" = "libprotoc 3.21.12" ] && [ "$(thrift --version 2>/dev/null)" = "Thrift version 0.17.0" ]; then
	sh proto/generate.sh "$now/proto"
	sh thrift/generate.sh "$now/thrift/gen"
	(cd "$now" && find proto thrift -type f -name '*.go') | while read -r f; do
		cmp "$now/$f" "$f" || { echo "$f is stale: run 'make generate'" >&2; exit 1; }
	done
	echo "generated code: sums match, and generating anew gives the same"
elif [ -n "${REQUIRE_COMPILERS:-}" ]; then
	echo "protoc 3.21.12 and thrift 0.17.0 are required here (Debian: protobuf-compiler thrift-compiler)" >&2
	exit 1
else
	echo "generated code: sums match (protoc 3.21.12 and thrift 0.17.0 are not both here, so it was not generated anew)"
fi
