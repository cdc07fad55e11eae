#!/bin/sh
# Installs the official conformance suite of the Model Context Protocol and its
# Inspector for the tests, once, into .cache/mcp, which git ignores: they are not ours
# to publish. They need a newer Node.js than many systems have, so one comes with them
# there. Without npm it says so in one line (in CI the tests that need them then fail).
set -eu

conformance=0.1.16
inspector=2.12.0
node=22.23.3
dir=$(cd "$(dirname "$0")/.." && pwd)/.cache/mcp
installed() { grep -qs "\"version\": \"$2\"" "$dir/node_modules/@modelcontextprotocol/$1/package.json"; }
installed conformance "$conformance" && installed inspector "$inspector" && [ -x "$dir/node" ] && exit 0
if ! command -v npm >/dev/null 2>&1; then
	echo "missing: npm (install it to try the conformance suite and the Inspector of MCP: sudo apt-get install npm)"
	exit 0
fi
own=""
if ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 22 || a == 22 && b >= 19 ? 0 : 1)' 2>/dev/null; then
	system=$(uname -s | tr '[:upper:]' '[:lower:]')
	case $(uname -m) in x86_64) machine=x64 ;; aarch64) machine=arm64 ;; *) machine=$(uname -m) ;; esac
	own="node-$system-$machine"
fi
echo "installing the conformance suite and the Inspector of MCP into .cache/mcp with npm: a large download, for a minute or more"
mkdir -p "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$dir" \
	"@modelcontextprotocol/conformance@$conformance" "@modelcontextprotocol/inspector@$inspector" ${own:+"$own@$node"} >/dev/null
if [ -n "$own" ]; then
	ln -sf "node_modules/$own/bin/node" "$dir/node"
else
	ln -sf "$(command -v node)" "$dir/node"
fi
