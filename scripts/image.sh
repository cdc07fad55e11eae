#!/bin/sh
# Runs an image with as little as it may need: an ordinary user, a read-only file
# system, no capabilities, and each kind of volume at /data. It has to become healthy,
# not to be root, and to print a sign-in link. Where no Docker runs, that is said in one
# line.
#
#	sh scripts/image.sh IMAGE
set -eu
image=${1:-webchat}
if ! docker info >/dev/null 2>&1; then
	echo "the image was not tried: no Docker runs here"
	exit 0
fi
name=webchat-try-$$
trap 'docker rm -f "$name" >/dev/null 2>&1' EXIT
try() { # what docker run is given beside
	docker run -d --name "$name" --read-only --tmpfs /tmp --cap-drop=ALL --security-opt no-new-privileges "$@" "$image" >/dev/null
	for _ in $(seq 60); do
		state=$(docker inspect -f '{{.State.Health.Status}}' "$name")
		[ "$state" = starting ] || break
		sleep 1
	done
	[ "$state" = healthy ] || { docker logs "$name"; echo "the image is $state with $*"; exit 1; }
	[ "$(docker exec "$name" id -u)" != 0 ] || { echo "the image runs as root"; exit 1; }
	docker exec "$name" webchat url | grep -q '^http://localhost:8080/auth#t=' || { echo "no sign-in link with $*"; exit 1; }
	echo "the image is healthy, as user $(docker exec "$name" id -u), read-only, without capabilities $*"
	docker rm -f "$name" >/dev/null
}
try
try --tmpfs /data:mode=0777
try --tmpfs /data:mode=2777,gid=2000
try --tmpfs /data:mode=2775,gid=2000 --group-add 2000
try --tmpfs /data:mode=2770,uid=10001,gid=2000 --group-add 2000
try --tmpfs /data:mode=0770 --user 1000680000:0
