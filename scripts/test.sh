#!/bin/sh
# Runs every test and says what is done meanwhile: which modules are downloaded,
# which packages are compiled and which are tested. The last line says that all
# passed or which tests failed.
set -eu
go=${GO:-go}
race=${RACE:-}
if [ -n "$race" ]; then
	# What only computes is not watched: SQLite, translated from C, was two thirds of the work.
	for computes in modernc.org/sqlite/lib github.com/dlclark/regexp2/... github.com/tiktoken-go/tokenizer/...; do
		race="$race -gcflags=$computes=-race=false"
	done
else
	echo "testing without the race detector: it needs a C compiler"
fi

# The race detector takes three times the time, so it watches where goroutines meet: not where
# neither a package nor its tests start one, and not what runs whole programs, whose rooms it
# watches by their own tests. make soak watches all. The browser's tests take the longest and begin first; real agents
# (TestReal) wait more than they work, so they run beside what the race detector watches.
starts='^[[:space:]]*go [a-z(]|\.Go\(|\.Parallel\('
whole="" met="" real=""
for package in $($go list -f '{{.ImportPath}}={{.Dir}}' ./...); do
	path=${package%%=*} dir=${package#*=}
	case $path in
	*/e2e/browser) whole="$path $whole" ;;
	*/e2e/* | */cmd/webchat) whole="$whole $path" ;;
	*)
		if ! cat "$dir"/*.go | grep -qE "$starts"; then
			whole="$whole $path"
			continue
		fi
		met="$met $path"
		! cat "$dir"/*_test.go 2>/dev/null | grep -q '^func TestReal' || real="$real $path"
		;;
	esac
done

# go test compiles in silence, so what the tests stand on is compiled first.
echo "compiling what the tests stand on: the first time takes some minutes"
deps='{{if not (or .Standard .ForTest (eq .Name "main"))}}{{.ImportPath}}{{end}}'
# shellcheck disable=SC2046,SC2086 # lists of packages; a flag or nothing
$go build -v $($go list -deps -test -f "$deps" $whole $real)
# shellcheck disable=SC2046,SC2086
$go build -v $race $($go list -deps -test -f "$deps" $met)

report=$(mktemp) agents=$(mktemp)
trap 'rm -f "$report" "$agents"' EXIT
$go build -o "$report" ./scripts/report

# Below the race detector each program waits a second before it ends, and tests start hundreds.
export GORACE=atexit_sleep_ms=0

# What stands in for agents, and the helpers of processes, are not watched: see internal/e2e/standin.
export WEBCHAT_STANDIN="$PWD/bin/standin"
$go build -o "$WEBCHAT_STANDIN" ./internal/e2e/standin/plain

# make check vets all, as each system.
echo "testing"
# shellcheck disable=SC2086
{
	$go test -json -vet=off -timeout 40m $whole || true
	$go test -json -vet=off -timeout 40m -run '^TestReal' $real >"$agents" &
	$go test $race -json -vet=off -skip '^TestReal' $met || true
	wait
	cat "$agents"
} | "$report"
