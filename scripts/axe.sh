#!/bin/sh
# Fetches axe-core, which the browser tests look for accessibility faults with, once into a cache:
# nothing of it is built in or shipped. The file is the one of the pinned checksum or none.
set -eu

version=4.14.1
sha256=29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c

cache=${CREDENCE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/credence-test}
file=$cache/axe-core-$version.min.js

# checksum FILE: its SHA-256, with what Linux or macOS has.
checksum() { { sha256sum "$1" 2>/dev/null || shasum -a 256 "$1"; } | cut -d' ' -f1; }

# right FILE: whether it has the pinned checksum.
right() { [ -f "$1" ] && [ "$(checksum "$1")" = $sha256 ]; }

if right "$file"; then
	echo "axe: there"
	exit 0
fi
if ! command -v npm >/dev/null 2>&1; then
	echo "axe: npm is not installed; the accessibility test will be skipped" >&2
	exit 0
fi
mkdir -p "$cache"
work=$(mktemp -d "$cache/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent --ignore-scripts "axe-core@$version" >/dev/null && tar -xzf "axe-core-$version.tgz" package/axe.min.js)
if ! right "$work/package/axe.min.js"; then
	echo "axe: what npm brought as axe-core $version has another checksum than the one pinned here" >&2
	exit 1
fi
mv "$work/package/axe.min.js" "$file"
echo "axe: fetched $file"
