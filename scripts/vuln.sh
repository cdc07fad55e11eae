#!/bin/sh
# Looks for known vulnerabilities in what we use. The list of them is on the network:
# where it cannot be reached, nothing was looked at, which is said loudly. A release
# fails then.
#
#	sh scripts/vuln.sh [release]
set -eu
unknown() {
	cat >&2 <<TEXT

********************************************************************************
  NOT LOOKED FOR: known vulnerabilities in what we use: govulncheck could not
  be asked ($1).
  So there may be some. Run "make check" again where https://vuln.go.dev is reached.
********************************************************************************

TEXT
	[ "$2" != release ] || {
		echo "there is no release without that look" >&2
		exit 1
	}
	exit 0
}
why=$(curl -sSf -m 30 -o /dev/null https://vuln.go.dev/index/db.json 2>&1) || unknown "$why" "${1-}"
out=$(${GO:-go} run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./... 2>&1) && {
	echo "govulncheck: nothing is known against what we use"
	exit 0
}
case $out in
*"Vulnerability #"*)
	echo "$out"
	exit 1
	;;
esac
unknown "$(echo "$out" | grep -v '^exit status' | head -n 1)" "${1-}"
