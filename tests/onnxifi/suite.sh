#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The ONNX backend suite and shared models through a loader of ONNXIFI libraries: every case whose compatibility call
# says yes passes, and at least so many do. usage: suite.sh CLIENT LIBRARY FLOOR SHARED
set -u
client=$1 library=$2 floor=$3 shared=${AXON_TEST_DATA:-$4} here=$(dirname "$0")
. "$here/../onnx/testdata.sh"
out=$("$client" "$library" "$data"/*/test_*) || { echo "$out"; exit 1; }
known=$({ listed "$here/../onnx/expected-failures.txt"; grep -v '^#' "$here/unrepresentable.txt"; } | cut -d' ' -f1)
bad=$(printf '%s\n' "$out" | grep '^FAIL' | sed -E 's#^FAIL .*/(test_[^:/]*): .*#\1#' | grep -vxF "$known")
passed=$(printf '%s\n' "$out" | grep -c '^pass')
taken=$(printf '%s\n' "$out" | grep -c '^pass\|^FAIL')
echo "$taken taken, $passed passed"
[ -z "$bad" ] || { echo "failed: $bad"; exit 1; }
[ "$passed" -ge "$floor" ] || { echo "expected at least $floor"; exit 1; }
for model in ultraface-rfb-320 mobilenetv2-1.0-224-fp32; do
  [ -d "$shared/models/$model" ] || { echo "no models in $shared (set AXON_TEST_DATA)"; continue; }
  out=$("$client" "$library" "$shared/models/$model")
  echo "$out"
  case $out in pass*) ;; *) exit 1 ;; esac
done
