#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The ONNX backend suite of Debian's libonnx-testdata, whole. Fails if not exactly so many cases were
# tried as its version has, if one does not pass that is not listed, if a listed one passes, or if a line
# of the list gives no reason. With floors, a device that does not take every operator: what it takes
# must pass, and at least so many cases must. usage: suite.sh AXON-RUN DEVICE [VERSION=FLOOR...]
set -u
run=$1 device=$2 here=$(dirname "$0")
shift 2
. "$here/testdata.sh"
if grep -v '^[#=]' "$here/expected-failures.txt" | grep -qvE '^(test_[^ ]+ .{8}|$)'; then
  echo "a line of expected-failures.txt has no reason"; exit 1
fi
out=$("$run" --suite "$data" --device "$device" 2>/dev/null)
tried=$(printf '%s\n' "$out" | grep -cE '^(pass|FAIL|skip) ')
missed=$(printf '%s\n' "$out" | sed -nE 's#^(FAIL|skip) [^:]*/(test_[^:/]*): .*#\2#p' | sort)
expected=$(listed "$here/expected-failures.txt" | cut -d' ' -f1 | sort)
echo "ONNX $version: $(printf '%s\n' "$out" | tail -n 1)"
[ "$tried" -eq "$cases" ] || { echo "$tried cases were tried, expected $cases"; exit 1; }
if [ $# -gt 0 ]; then
  floor=$(of_version "$@")
  passed=$(printf '%s\n' "$out" | grep -c '^pass ')
  wrong=$(printf '%s\n' "$out" | sed -nE 's#^FAIL [^:]*/(test_[^:/]*): .*#\1#p' | grep -vxF "$expected")
  [ -z "$wrong" ] || { echo "failed: $wrong"; exit 1; }
  [ "$passed" -ge "${floor:?no floor for ONNX $version}" ] || { echo "$passed passed, expected at least $floor"; exit 1; }
elif [ "$missed" != "$expected" ]; then
  echo "< listed as expected   > did not pass"
  diff <(printf '%s\n' "$expected") <(printf '%s\n' "$missed") | head -20
  printf '%s\n' "$out" | grep -E '^(FAIL|skip)' | cut -c1-200 | head -20
  exit 1
fi
