#!/bin/sh
# Generates the Go code of the Thrift IDLs: `sh thrift/generate.sh` in place (thrift/gen), `sh thrift/generate.sh DIR`
# into DIR, so that `diff -r DIR thrift/gen` shows whether what is checked in is fresh.
# Needs the Thrift compiler of Debian, 0.17.0; another version is refused because its output differs.
#
# Two things of that compiler's output are changed, because the library (0.25.0) is newer than it:
# - the interval of the server's connectivity check is asked of the call's context instead of read from a variable
#   of the library, so that two servers of one process can differ (package connectivity says more);
# - a list is made with room for thrift.PreallocSize(size) elements, as later compilers write it, and not for as
#   many as the peer claims to send.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/gen}

have=$(thrift --version 2>/dev/null || true)
if [ "$have" != "Thrift version 0.17.0" ]; then
	echo "generate.sh: needs the Thrift compiler 0.17.0 (apt-get install thrift-compiler), found: ${have:-none}" >&2
	exit 1
fi

mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "$out/inf" "$out/routeguide"
cd "$here"
for idl in inf routeguide; do
	thrift -strict -out "$out" --gen go:skip_remote,package_prefix=bakeoff/thrift/gen/ "$idl.thrift"
	file=$out/$idl/$idl.go
	before=$(grep -c 'time\.NewTicker(thrift\.ServerConnectivityCheckInterval)' "$file")
	sed -i \
		-e 's/^import (/import (\n\t"bakeoff\/thrift\/connectivity"/' \
		-e 's/if thrift\.ServerConnectivityCheckInterval > 0 {/if interval := connectivity.Interval(ctx); interval > 0 {/' \
		-e 's/time\.NewTicker(thrift\.ServerConnectivityCheckInterval)/time.NewTicker(interval)/' \
		-e 's/make(\(\[\][^,()]*\), 0, size)/make(\1, 0, thrift.PreallocSize(size))/' "$file"
	after=$(grep -c 'if interval := connectivity\.Interval(ctx); interval > 0 {' "$file")
	if [ "$before" != "$after" ] || grep -q 'ServerConnectivityCheckInterval\|, 0, size)' "$file"; then
		echo "generate.sh: $file is not what the compiler wrote when the changes above were made: mend the sed lines" >&2
		exit 1
	fi
	gofmt -w "$out/$idl"
done
