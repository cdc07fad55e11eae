#!/bin/sh
# Runs every test and says what is done meanwhile: which modules are downloaded,
# which packages are compiled and which are tested. The last line says that all
# passed or which tests failed.
#
#	sh scripts/test.sh [race]
#
# With race the race detector watches those packages where goroutines meet: not where
# neither a package nor its tests start one, nor those that run whole programs, whose rooms
# are watched by their own tests.
set -eu
go=${GO:-go}
race=""
if [ "${1:-}" = race ]; then
	if ! echo '#include <stdlib.h>' | $($go env CC) -E -x c - >/dev/null 2>&1 || [ "$($go env CGO_ENABLED)" != 1 ]; then
		echo "NOT LOOKED FOR: data races. The race detector needs a C compiler and its headers."
		[ -z "${CI:-}" ] || exit 1
		exit 0
	fi
	race=-race
	# What only computes is not watched: SQLite, translated from C, was two thirds of the work.
	for computes in modernc.org/sqlite/lib github.com/dlclark/regexp2/... github.com/tiktoken-go/tokenizer/...; do
		race="$race -gcflags=$computes=-race=false"
	done
fi

# The browser's tests take all of the machine, so they run alone. Real agents (TestReal) wait more
# than they work, so four run at once, but what they wait for is given up in time, so they run
# before the rest. In CI make check follows, so what it runs with the race detector is left to it.
starts='^[[:space:]]*go [a-z(]|\.Go\(|\.Parallel\('
browser="" programs="" rooms="" real=""
for package in $($go list -f '{{.ImportPath}}={{.Dir}}' ./...); do
	path=${package%%=*} dir=${package#*=}
	case $path in
	*/e2e/browser) [ -n "$race" ] || browser=$path ;;
	*/e2e/* | */cmd/webchat) [ -n "$race" ] || programs="$programs $path" ;;
	*)
		[ -n "$race" ] || ! cat "$dir"/*_test.go 2>/dev/null | grep -q '^func TestReal' || real="$real $path"
		if cat "$dir"/*.go | grep -qE "$starts"; then
			[ -n "$race" ] || [ -z "${CI:-}" ] || continue
		elif [ -n "$race" ]; then
			continue
		fi
		rooms="$rooms $path"
		;;
	esac
done

# go test compiles in silence, so what the tests stand on is compiled first.
echo "compiling what the tests stand on: the first time takes some minutes"
deps='{{if not (or .Standard .ForTest (eq .Name "main"))}}{{.ImportPath}}{{end}}'
# shellcheck disable=SC2046,SC2086 # lists of packages; flags or nothing
$go build -v $race $($go list -deps -test -f "$deps" $browser $real $programs $rooms)

report=$(mktemp)
trap 'rm -f "$report"' EXIT
$go build -o "$report" ./scripts/report

# Below the race detector each program waits a second before it ends, and tests start hundreds.
export GORACE=atexit_sleep_ms=0

# What stands in for agents, and the helpers of processes, are not watched: see internal/e2e/standin.
export WEBCHAT_STANDIN="$PWD/bin/standin"
$go build -o "$WEBCHAT_STANDIN" ./internal/e2e/standin/plain

# make check vets all, as each system.
echo "testing"
tests="$go test $race -json -vet=off -timeout 40m"
# shellcheck disable=SC2086
{
	[ -z "$browser" ] || $tests $browser || true
	[ -z "$real" ] || $tests -parallel 4 -run '^TestReal' $real || true
	[ -z "$programs" ] || $tests $programs || true
	[ -z "$rooms" ] || $tests -skip '^TestReal' $rooms || true
} | "$report"
