#!/bin/sh
# Prints the packages that start goroutines or share memory between them, tests included: those that
# the race detector can find something in. With -v, prints the others.
set -eu
cd "$(dirname "$0")/.."

pattern='"sync"|"sync/atomic"|/errgroup"|/singleflight"|^[[:space:]]*go [[:alpha:]]'
# A file of testdata is no part of any package.
concurrent=$(grep -rlE --include='*.go' "$pattern" . | grep -v /testdata/ | sed 's|/[^/]*$||' | sort -u)

go list -f '{{.Dir}} {{.ImportPath}}' ./... | while read -r dir path; do
	case "
$concurrent
" in
	*"
.${dir#"$PWD"}
"*) [ "${1-}" = -v ] || echo "$path" ;;
	*) [ "${1-}" != -v ] || echo "$path" ;;
	esac
done
