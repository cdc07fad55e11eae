#!/bin/sh
# Installs the official conformance suite of the Model Context Protocol, its Inspector and
# servers that others published for the tests, once, into .cache/mcp, which git ignores: they are
# not ours to publish. They need a newer Node.js than many systems have, so one comes with them
# there. Without npm it says so in one line (in CI the tests that need them then fail).
set -eu

of=@modelcontextprotocol
packages="$of/conformance@0.1.16 $of/inspector@2.12.0 $of/server-everything@2026.8.31
	$of/server-filesystem@2026.8.31 $of/server-budget-allocator@2.0.3 @playwright/mcp@0.0.83"
node=22.23.3
dir=$(cd "$(dirname "$0")/.." && pwd)/.cache/mcp
missing=""
for package in $packages; do
	grep -qs "\"version\": \"${package##*@}\"" "$dir/node_modules/${package%@*}/package.json" || missing=yes
done
[ -z "$missing" ] && [ -x "$dir/node" ] && exit 0
if ! command -v npm >/dev/null 2>&1; then
	echo "missing: npm (install it to try the conformance suite, the Inspector and servers of MCP: sudo apt-get install npm)"
	exit 0
fi
own=""
if ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 22 || a == 22 && b >= 19 ? 0 : 1)' 2>/dev/null; then
	system=$(uname -s | tr '[:upper:]' '[:lower:]')
	case $(uname -m) in x86_64) machine=x64 ;; aarch64) machine=arm64 ;; *) machine=$(uname -m) ;; esac
	own="node-$system-$machine"
fi
echo "installing the conformance suite, the Inspector and servers of MCP into .cache/mcp with npm: a large download, for a minute or more"
mkdir -p "$dir"
# shellcheck disable=SC2086 # a list of packages
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$dir" $packages ${own:+"$own@$node"} >/dev/null
if [ -n "$own" ]; then
	ln -sf "node_modules/$own/bin/node" "$dir/node"
else
	ln -sf "$(command -v node)" "$dir/node"
fi
