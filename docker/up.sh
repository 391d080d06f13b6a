#!/bin/sh
# The composition from start to end: builds, starts, runs, prints, and leaves no container and no network, however it ends.
# The exit code is the run's.
#
#   docker/up.sh              with Aerospike
#   docker/up.sh --embedded   with the embedded store
set -u
cd "$(dirname "$0")/.." || exit 1

files="-f docker-compose.yml"
case "${1-}" in
"") ;;
--embedded) files="$files -f docker-compose.embedded.yml" ;;
*) echo "docker/up.sh: $1 is unknown: --embedded, or nothing" >&2; exit 2 ;;
esac
# COMPOSE_TOOL chooses where both are there.
if [ -n "${COMPOSE_TOOL-}" ]; then compose=$COMPOSE_TOOL
elif docker compose version >/dev/null 2>&1; then compose="docker compose"
elif command -v docker-compose >/dev/null; then compose=docker-compose
else echo "docker/up.sh: needs docker compose, or docker-compose 1.29" >&2; exit 1
fi

# In the background, so that a signal to this script alone is passed on at once. Only the run is named: what it needs is
# started with it, and ends nothing when it dies: the run reports that.
$compose $files up --build --exit-code-from run run &
up=$!
trap 'kill -TERM $up 2>/dev/null' INT TERM HUP
wait $up
code=$?
while kill -0 $up 2>/dev/null; do
	wait $up
	code=$?
done
trap '' INT TERM HUP
$compose $files down --timeout 5 >/dev/null 2>&1 || { echo "docker/up.sh: could not take the containers down: $compose $files down" >&2; code=1; }
exit $code
