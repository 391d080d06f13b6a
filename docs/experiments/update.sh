#!/bin/sh
# Runs the command at the head of each page given, or of all, and puts what it prints between the page's markers. It takes
# some minutes, and figures are only as good as the machine is quiet.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/bakeoff" ./cmd/bakeoff
[ $# -gt 0 ] || set -- docs/experiments/*.md
for page; do
	command=$(sed -n 's/^    bakeoff run/run/p' "$page" | head -n 1)
	grep -q '^<!-- result -->$' "$page" || continue
	echo "$page: bakeoff $command" >&2
	rc=0
	# shellcheck disable=SC2086 # the command is words
	"$work/bakeoff" $command --results "$work/results.jsonl" > "$work/out" || rc=$?
	rm -f "$work/results.jsonl"
	[ $rc -eq 0 ] || [ $rc -eq 3 ] || exit $rc # 3: the report stands, and says what it lacks
	awk -v out="$work/out" '
		/^<!-- \/result -->$/ { skip = 0 }
		!skip { print }
		/^<!-- result -->$/ { skip = 1; while ((getline line < out) > 0) print (line == "" ? "" : "    " line) }
	' "$page" > "$work/page"
	cat "$work/page" > "$page"
done
