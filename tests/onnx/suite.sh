#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The ONNX backend suite of Debian's libonnx-testdata, as far as operators are there. Fails if a case
# fails that is not listed, if a listed one passes, or if fewer pass than before.
set -u
run=$1 device=$2 here=$(dirname "$0")
data=/usr/share/libonnx-testdata/data
floor=522
[ -d "$data" ] || { echo "$data is not installed (libonnx-testdata)"; exit 77; }
out=$("$run" --suite "$data" --device "$device" 2>/dev/null)
failed=$(printf '%s\n' "$out" | sed -n 's|^FAIL .*/\(test_[^:]*\):.*|\1|p' | sort)
expected=$(grep -v '^#' "$here/expected-failures.txt" | cut -d' ' -f1 | sort)
passed=$(printf '%s\n' "$out" | sed -n 's/^\([0-9]*\) passed.*/\1/p')
printf '%s\n' "$out" | tail -n 1
if [ "$failed" != "$expected" ]; then
  diff <(printf '%s\n' "$expected") <(printf '%s\n' "$failed") | head -20
  printf '%s\n' "$out" | grep ^FAIL | cut -c1-200 | head -20
  exit 1
fi
[ "$passed" -ge "$floor" ] || { echo "only $passed cases passed, $floor did before"; exit 1; }
