#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Two builds of HEAD in folders of different names, with other umask, time zone, language and order of compiling, install
# the same bytes. Paths are mapped as dpkg-buildflags does; nothing is cached. OPTION... is for both (meson setup).
# usage: tests/reproducible.sh [OPTION...]
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d "${TMPDIR:-/var/tmp}/axon-reproducible.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# build FOLDER NINJA-OPTION OPTION...: installs into FOLDER/root, and lists what is there.
build() {
  local top=$1 jobs=$2
  shift 2
  mkdir -p "$top/axon"
  git -c safe.directory="$PWD" archive HEAD | tar -x -C "$top/axon"
  (
    cd "$top/axon"
    export CCACHE_DISABLE=1 CFLAGS="-g -O1 -ffile-prefix-map=$PWD=." SOURCE_DATE_EPOCH=1700000000
    meson setup build --prefix=/usr -Dtests=false -Dsysprof=disabled "$@" > "$top/log" 2>&1 &&
      ninja -C build $jobs >> "$top/log" 2>&1 && DESTDIR=$top/root meson install -C build --no-rebuild >> "$top/log" 2>&1
  ) || { tail -n 20 "$top/log"; exit 1; }
  (cd "$top/root" && find . -type f -print0 | sort -z | xargs -0 sha256sum; find . -type l -printf '%p -> %l\n' | sort) > "$top/list"
}

(umask 022; TZ=UTC LC_ALL=C.UTF-8 build "$folder/one" "-j2" "$@")
(umask 027; TZ=Pacific/Apia LC_ALL=C LANGUAGE=de build "$folder/another/and-longer-path" "-j3" "$@")
if ! diff "$folder/one/list" "$folder/another/and-longer-path/list"; then
  echo "not ok: the files above differ"
  exit 1
fi
echo "ok: $(wc -l < "$folder/one/list") files are the same in both"
