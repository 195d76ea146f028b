#!/bin/sh
# Makes a Python environment for the independent recomputation of a run's numbers, once into a cache.
# Nothing of it is built in or shipped. Prints the path of its interpreter on the last line.
set -eu

packages='numpy==2.3.5 scikit-learn==1.7.2 pyarrow==22.0.0'

cache=${CREDENCE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/credence-test}
env=$cache/python
mark=$env/packages

if [ "$(cat "$mark" 2>/dev/null || true)" = "$packages" ]; then
	echo "python: there"
	exit 0
fi
if ! command -v python3 >/dev/null 2>&1; then
	echo "python: python3 is not installed; the recomputation will be skipped" >&2
	exit 0
fi
mkdir -p "$cache"
rm -rf "$env"
if ! python3 -m venv "$env" >/dev/null 2>&1; then
	rm -rf "$env"
	echo "python: no environment can be made here (package python3-venv); the recomputation will be skipped" >&2
	exit 0
fi
# Unquoted on purpose: a list of words each.
# shellcheck disable=SC2086
"$env/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: $packages
printf '%s' "$packages" >"$mark"
echo "python: made $env"
