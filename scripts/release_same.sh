#!/bin/sh
# Makes a release for one system twice, the second time in another folder and with
# nothing compiled before, and fails unless every byte is the same.
#
#	sh scripts/release_same.sh OS/ARCH
set -eu
system=$1
go=${GO:-go}
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
git clone -q . "$work/elsewhere"
git -C "$work/elsewhere" checkout -q "$(git rev-parse HEAD)"
git clone -q . "$work/here"
git -C "$work/here" checkout -q "$(git rev-parse HEAD)"
GO=$go sh "$work/here/scripts/release.sh" "$work/first" "$system" >/dev/null
GOCACHE=$work/cache TZ=Asia/Tokyo GO=$go sh "$work/elsewhere/scripts/release.sh" "$work/second" "$system" >/dev/null
diff -r "$work/first" "$work/second"
echo "release: two builds for $system are the same, byte for byte"
