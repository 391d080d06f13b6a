#!/bin/sh
# The composition from start to end: builds, starts, runs, prints, and leaves no container and no network, however it ends.
# The exit code is the run's, or 130 after Ctrl-C (what a compose tool gives then differs).
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
if [ $# -gt 1 ]; then echo "docker/up.sh: $2 is unknown: nothing follows $1 (flags of the run are in RUN_FLAGS)" >&2; exit 2; fi
# COMPOSE_TOOL chooses where both are there.
if [ -n "${COMPOSE_TOOL-}" ]; then compose=$COMPOSE_TOOL
elif docker compose version >/dev/null 2>&1; then compose="docker compose"
elif command -v docker-compose >/dev/null; then compose=docker-compose
else echo "docker/up.sh: needs docker compose, or docker-compose 1.29" >&2; exit 1
fi

# What has this name already is somebody else's: it is neither changed nor taken down. While it is built it has no containers
# yet, so that there is a lock, too, where there is flock. Names are written as docker-compose 1.29 writes them.
COMPOSE_PROJECT_NAME=$(printf %s "${COMPOSE_PROJECT_NAME:-$(sed -n 's/^COMPOSE_PROJECT_NAME=//p' .env)}" | tr A-Z a-z | tr -cd a-z0-9_-)
export COMPOSE_PROJECT_NAME
refuse() {
	echo "docker/up.sh: the project $COMPOSE_PROJECT_NAME $1: $2, or choose another name: COMPOSE_PROJECT_NAME=another docker/up.sh ..." >&2
	exit 1
}
lock=${TMPDIR:-/tmp}/bakeoff-up-$(id -u)-$COMPOSE_PROJECT_NAME.lock
if command -v flock >/dev/null; then
	exec 9>"$lock" || exit 1
	flock -n 9 || refuse "is under way by another docker/up.sh" "wait for its end"
fi
there=$(docker ps --all --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME") || exit 1 # docker says why
if [ -n "$there" ]; then refuse "has containers already" "end them with 'COMPOSE_PROJECT_NAME=$COMPOSE_PROJECT_NAME $compose $files down'"; fi

# In the background, so that a signal to this script alone is passed on at once. Only the run is named: what it needs is
# started with it, and ends nothing when it dies: the run reports that.
$compose $files up --build --exit-code-from run run &
up=$!
interrupted=
trap 'interrupted=yes; kill -TERM $up 2>/dev/null' INT TERM HUP
wait $up
code=$?
while kill -0 $up 2>/dev/null; do
	wait $up
	code=$?
done
trap '' INT TERM HUP
if [ -n "$interrupted" ]; then code=130; fi
# Who can't start keeps the run from it, and compose does not say why.
run=$(docker ps --all --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --filter label=com.docker.compose.service=run --filter status=exited)
if [ -z "$interrupted" ] && [ $code -ne 0 ] && [ -z "$run" ]; then
	echo "docker/up.sh: the run was not started; the last words of each service:" >&2
	$compose $files logs --no-color --tail 5 >&2
fi
$compose $files down --timeout 5 >/dev/null 2>&1 || { echo "docker/up.sh: could not take the containers down: $compose $files down" >&2; code=1; }
rm -f "$lock"
exit $code
