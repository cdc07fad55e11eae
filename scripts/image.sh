#!/bin/sh
# Runs an image with as little as it may need: an ordinary user, a read-only file
# system, no capabilities. It has to become healthy, not to be root, and to print a
# sign-in link. Where no Docker runs, that is said in one line.
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
docker run -d --name "$name" --read-only --tmpfs /tmp --cap-drop=ALL --security-opt no-new-privileges "$image" >/dev/null
for _ in $(seq 60); do
	state=$(docker inspect -f '{{.State.Health.Status}}' "$name")
	[ "$state" = starting ] || break
	sleep 1
done
[ "$state" = healthy ] || { docker logs "$name"; echo "the image is $state"; exit 1; }
[ "$(docker exec "$name" id -u)" != 0 ] || { echo "the image runs as root"; exit 1; }
docker exec "$name" webchat url | grep -q '^http://localhost:8080/auth#t=' || { echo "no sign-in link"; exit 1; }
echo "the image is healthy, as user $(docker exec "$name" id -u), read-only, without capabilities"
