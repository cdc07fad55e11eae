#!/bin/sh
# Runs every test and says what is done meanwhile: which modules are downloaded,
# which packages are compiled and which are tested. The last line says that all
# passed or which tests failed.
set -eu
go=${GO:-go}
race=${RACE:-}
[ -n "$race" ] || echo "testing without the race detector: it needs a C compiler"

# Where neither a package nor its tests start a goroutine, the race detector finds nothing
# and takes ten times the time.
starts='^[[:space:]]*go [a-z(]|\.Go\(|\.Parallel\('
# The browser's tests take the longest, so they begin first.
calm="" others="" longest=""
for package in $($go list -f '{{.ImportPath}}={{.Dir}}' ./...); do
	if cat "${package#*=}"/*.go | grep -qE "$starts"; then
		case ${package%%=*} in
		*/e2e/browser) longest=${package%%=*} ;;
		*) others="$others ${package%%=*}" ;;
		esac
	else
		calm="$calm ${package%%=*}"
	fi
done
others="$longest$others"

# go test compiles in silence, so what the tests stand on is compiled first.
echo "compiling what the tests stand on: the first time takes some minutes"
deps='{{if not (or .Standard .ForTest (eq .Name "main"))}}{{.ImportPath}}{{end}}'
# shellcheck disable=SC2046,SC2086 # lists of packages; a flag or nothing
$go build -v $($go list -deps -test -f "$deps" $calm)
# shellcheck disable=SC2046,SC2086
$go build -v $race $($go list -deps -test -f "$deps" $others)

report=$(mktemp)
trap 'rm -f "$report"' EXIT
$go build -o "$report" ./scripts/report

# make check vets all, for each system.
echo "testing"
# shellcheck disable=SC2086
{ $go test -json -vet=off $calm || true; $go test $race -json -vet=off -timeout 20m $others; } | "$report"
