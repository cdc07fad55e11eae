#!/bin/sh
# Runs every test and says what is done meanwhile: which modules are downloaded,
# which packages are compiled and which are tested. The last line says that all
# passed or which tests failed.
set -eu
go=${GO:-go}
race=${RACE:-}
[ -n "$race" ] || echo "testing without the race detector: it needs a C compiler"

# go test compiles in silence, so what the tests stand on is compiled first.
echo "compiling what the tests stand on: the first time takes some minutes"
deps='{{if not (or .Standard .ForTest (eq .Name "main"))}}{{.ImportPath}}{{end}}'
# shellcheck disable=SC2046,SC2086 # a list of packages; a flag or nothing
$go build -v $race $($go list -deps -test -f "$deps" ./...)

report=$(mktemp)
trap 'rm -f "$report"' EXIT
$go build -o "$report" ./scripts/report

echo "testing"
# shellcheck disable=SC2086
$go test $race -json -timeout 15m ./... | "$report"
