#!/bin/sh
# Installs what building, testing and the embedded engine need and this machine lacks: make, a C
# compiler (the race detector links with it; nothing of ours is C), Chromium for the tests of the HTML
# report, and the two system libraries that llama.cpp's shared libraries and the call into them need.
# Changes nothing where all is there.
set -eu

missing=

# need PACKAGE WHAT: remembers a Debian package, and says what it is for.
need() {
	echo "deps: missing: $2 (package $1)"
	missing="$missing $1"
}

# library FILE: whether the dynamic linker finds it.
library() {
	for linker in ldconfig /sbin/ldconfig /usr/sbin/ldconfig; do
		if command -v "$linker" >/dev/null 2>&1; then
			"$linker" -p 2>/dev/null | grep -q "[[:space:]]$1 " && return 0
			return 1
		fi
	done
	# No ldconfig (musl, for one): look where libraries lie.
	for dir in /lib /usr/lib /lib64 /usr/lib64 /usr/local/lib; do
		[ -e "$dir/$1" ] && return 0
	done
	return 1
}

# compiles: whether a C program can be built, which needs the C library's headers too.
compiles() {
	compiler=${CC:-gcc}
	command -v "$compiler" >/dev/null 2>&1 || return 1
	echo '#include <stdlib.h>
int main(void) { return EXIT_SUCCESS; }' | "$compiler" -x c -o /dev/null - >/dev/null 2>&1
}

# browser: whether a browser of Chromium's kind is there.
browser() {
	for name in chromium chromium-browser google-chrome; do
		command -v "$name" >/dev/null 2>&1 && return 0
	done
	return 1
}

if ! command -v go >/dev/null 2>&1; then
	echo "deps: Go 1.26 or later is needed: https://go.dev/dl" >&2
	exit 1
fi

case $(uname -s) in
Linux)
	command -v make >/dev/null 2>&1 || need make "make"
	compiles || need "gcc libc6-dev" "a C compiler, for the race detector"
	library libffi.so.8 || need libffi8 "libffi, through which the engine is called"
	browser || need "chromium fonts-dejavu-core" "Chromium and a font, for the tests of the HTML report"
	library 'libstdc++.so.6' || need 'libstdc++6' "the C++ library that the engine uses"
	;;
*)
	command -v make >/dev/null 2>&1 || echo "deps: make is missing"
	compiles || echo "deps: no C compiler: the race detector will not run"
	;;
esac

if [ -z "$missing" ]; then
	echo "deps: nothing is missing"
	exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
	if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
		as_root="sudo -n"
	else
		as_root=no
	fi
fi
if [ "$as_root" = no ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "deps: cannot install here. As root on Debian or Ubuntu: apt-get update && apt-get install$missing" >&2
	echo "deps: elsewhere, install the packages that hold the same." >&2
	exit 1
fi

echo "deps: installing$missing"
export DEBIAN_FRONTEND=noninteractive
# Unquoted on purpose: a list of words each.
# shellcheck disable=SC2086
$as_root apt-get -q -o Acquire::Retries=3 update
# shellcheck disable=SC2086
$as_root apt-get -q -y -o Acquire::Retries=3 install --no-install-recommends $missing
