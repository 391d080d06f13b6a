#!/bin/sh
# Generates the Go code of the .proto files beside them, or into DIR (which then stands for this folder), so that
# what is checked in can be compared with what would be generated.
#   sh proto/generate.sh [DIR]
# Needs protoc 3.21.12 (Debian: protobuf-compiler). Its plugins are built from tools/go.mod, which pins them, so the
# output depends on nothing else.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-$here}"
out=$(cd "${1:-$here}" && pwd)

want="libprotoc 3.21.12"
have=$(protoc --version 2>/dev/null || echo "no protoc")
if [ "$have" != "$want" ]; then
	echo "proto/generate.sh: found $have, need $want (Debian: apt-get install protobuf-compiler)" >&2
	exit 1
fi

plugin() {
	GOWORK=off GOFLAGS= go -C "$here/../tools" tool -n "$1"
}
go_plugin=$(plugin protoc-gen-go)
grpc_plugin=$(plugin protoc-gen-go-grpc)
vt_plugin=$(plugin protoc-gen-go-vtproto)
connect_plugin=$(plugin protoc-gen-connect-go)
gateway_plugin=$(plugin protoc-gen-grpc-gateway)

cd "$here"
mkdir -p "$out/grpcgateway"
protoc -I . \
	--plugin=protoc-gen-go="$go_plugin" --go_out="$out" --go_opt=paths=source_relative \
	--plugin=protoc-gen-go-grpc="$grpc_plugin" --go-grpc_out="$out" --go-grpc_opt=paths=source_relative \
	--plugin=protoc-gen-go-vtproto="$vt_plugin" --go-vtproto_out="$out" \
	--go-vtproto_opt=paths=source_relative,features=marshal+unmarshal+size \
	--plugin=protoc-gen-connect-go="$connect_plugin" --connect-go_out="$out" --connect-go_opt=paths=source_relative,simple \
	--plugin=protoc-gen-grpc-gateway="$gateway_plugin" --grpc-gateway_out="$out/grpcgateway" \
	--grpc-gateway_opt=paths=source_relative,standalone=true,grpc_api_configuration=grpcgateway/rules.yaml \
	inf/inf.proto routeguide/routeguide.proto
