#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Reports how the library's ABI differs from the recorded one: what a device plugin or an application that was built then
# would notice. A report, not a gate: it fails only where it cannot be made. docs/design/abi.md says what may change.
# usage: abi.sh SOURCE LIBRARY [--record]
set -u
source=$1 library=$2 dump=$1/tests/abi/axon-1.0-x86_64.abi
skip() {
  echo "skipped: $1"
  exit 77
}
command -v abidiff >/dev/null || skip "abidiff is not installed (Debian: abigail-tools)"
[ "$(uname -m)" = x86_64 ] || skip "the recorded ABI is that of x86_64, not of $(uname -m)"
readelf -S "$library" | grep -q '\.debug_info' || skip "$library has no debug information to read types from"
if [ "${3:-}" = --record ]; then
  exec abidw --headers-dir "$source/lib/include" --drop-private-types --drop-undefined-syms --exported-interfaces-only \
    --no-corpus-path --no-comp-dir-path --no-elf-needed --no-show-locs --no-parameter-names --out-file "$dump" "$library"
fi
abidiff --no-added-syms --fail-no-debug-info "$dump" "$library"
status=$?
if [ $((status & 3)) -ne 0 ]; then
  echo "abidiff could not compare $library with $dump"
  exit 1
elif [ $((status & 8)) -ne 0 ]; then
  echo "incompatible with the recorded ABI: what was built against it has to be built again"
elif [ $((status & 4)) -ne 0 ]; then
  echo "differs from the recorded ABI: read above whether what was built against it still works"
else
  echo "as recorded, but for what was added"
fi
