#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Debian's packages of HEAD, or of a tree without git, in OUT, and what lintian says of them; no error and no warning may be left.
# usage: tests/packages.sh OUT
set -eu
[ $# = 1 ] || { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."
. .ci/packages.sh
install_packages $PACKAGE_PACKAGES
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$(sed -n '1s/.*(\(.*\)-.*).*/\1/p' debian/changelog)
tree=$out/axon-$version
[ ! -e "$tree" ] || { echo "$tree is there already: give a folder without it" >&2; exit 2; }
if git -c safe.directory="$PWD" rev-parse -q --verify HEAD > /dev/null 2>&1; then
  git -c safe.directory="$PWD" archive --prefix="axon-$version/" HEAD | tar -x -C "$out"
else # a tree that somebody unpacked, tests/distro.sh for one
  mkdir "$tree" && tar -c . | tar -x -C "$tree"
fi
tar -C "$out" --exclude "axon-$version/debian" -cJf "$out/axon_$version.orig.tar.xz" "axon-$version"
cd "$tree"
install_packages $(dpkg-checkbuilddeps 2>&1 | sed 's/.*dependencies: //; s/([^)]*)//g')
dpkg-buildpackage -us -uc > "$out/build.log" 2>&1 || { tail -n 30 "$out/build.log"; exit 1; }
# These packages are not uploaded to Debian, whose bugs they could close.
lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs,bad-distribution-in-changes-file,unreleased-changes \
  "$out"/*.changes
echo "packages: $out"
