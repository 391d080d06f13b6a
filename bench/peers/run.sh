#!/bin/sh
# Runs the driver beside other load generators over the same servers, interleaved, and prints what each pays in
# CPU for a call. ghz and bombardier are built from the modules beside this script; wrk is Debian's package.
set -eu
cd "$(dirname "$0")/../.."
for t in wrk taskset; do
	command -v "$t" >/dev/null || { echo "$t is needed: apt-get install wrk util-linux" >&2; exit 1; }
done
bin=$PWD/bench/peers/bin
(cd bench/peers/ghz && go build -o "$bin/ghz" github.com/bojand/ghz/cmd/ghz)
(cd bench/peers/bombardier && go build -o "$bin/bombardier" github.com/codesenberg/bombardier)
go build -o "$bin/bakeoff" ./cmd/bakeoff
go build -o "$bin/tax" ./bench/tax
exec go run ./bench/peers -bin "$bin" "$@"
