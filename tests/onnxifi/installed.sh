#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# As suite.sh, through Debian's wrapper, which looks in /usr/lib only: the vendor library lies there in a mount
# namespace of its own, and nowhere else. usage: installed.sh CLIENT LIBRARY FLOOR SHARED
set -u
[ -e /usr/lib/libonnxifi.so ] || { echo "/usr/lib/libonnxifi.so is not installed (libonnxifi)"; exit 77; }
[ "$(id -u)" = 0 ] && user="" || user=-r
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/upper" "$tmp/work"
cp "$2" "$tmp/upper/libonnxifi-axon.so"
mount="mount -t overlay overlay -o lowerdir=/usr/lib,upperdir=$tmp/upper,workdir=$tmp/work /usr/lib"
unshare -m $user sh -c "$mount" 2>/dev/null || { echo "no overlay of /usr/lib: this system has no namespaces for it"; exit 77; }
unshare -m $user sh -c "$mount"' && shift && exec bash "$0" "$1" "" "$2" "$3"' "$(dirname "$0")/suite.sh" - "$1" "$3" "$4"
