#!/bin/sh
# Makes the archives of a release: for each system the program, its pages, completions,
# and the list of modules with their licences; and the archives' checksums. The
# same commit and the same Go make the same bytes, wherever and whenever.
#
#	sh scripts/release.sh OUT OS/ARCH...
set -eu
out=$1
shift
go=${GO:-go}
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
umask 022
: >"$stage/modules"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

for system in "$@"; do
	os=${system%/*} arch=${system#*/} name=webchat
	[ "$os" != windows ] || name=webchat.exe
	echo "building for $system"
	CGO_ENABLED=0 GOOS=$os GOARCH=$arch GOFLAGS=-mod=readonly $go build -trimpath -buildvcs=true -ldflags '-s -w -buildid=' -o "$stage/bin/$os-$arch/$name" ./cmd/webchat
	CGO_ENABLED=0 GOOS=$os GOARCH=$arch $go list -deps -f '{{with .Module}}{{if .Version}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/webchat >>"$stage/modules"
done

mkdir -p "$stage/common/completions"
$go build -trimpath -o "$stage/webchat" ./cmd/webchat
"$stage/webchat" completion bash >"$stage/common/completions/webchat.bash"
"$stage/webchat" completion zsh >"$stage/common/completions/_webchat"
"$stage/webchat" completion fish >"$stage/common/completions/webchat.fish"
"$stage/webchat" completion powershell >"$stage/common/completions/webchat.ps1"
cp -R README.md SECURITY.md docs "$stage/common/" # what README.md tells users is in docs
mkdir "$stage/common/deploy"
cp -R deploy/single deploy/grafana.json deploy/alerts.yaml "$stage/common/deploy/"

echo "std $($go env GOVERSION) $($go env GOROOT)" >>"$stage/modules"
for note in $(git ls-files '*/VERSION'); do # JavaScript that is embedded
	sed -n "s|^npm \(.*\)|npm:\1 $here/${note%/*}|p" "$note" >>"$stage/modules"
done
$go run ./scripts/release "$stage" "$stage/out"
rm -rf "$out"
mkdir -p "$(dirname "$out")"
cp -R "$stage/out" "$out"
echo "packed in $out:"
(cd "$out" && ls)
