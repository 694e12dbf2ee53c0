#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every shared model gives its expected outputs; the light ones also agree with the reference kernels
# (no passes) after they got random weights. Of devices behind others the first part only; a model that no
# batch fits is counted apart. usage: models.sh axon-run DEVICE DATA [KEY=VALUE]
set -u
run=$1 device=$2 data=${AXON_TEST_DATA:-$3} config=${4:+--config=$4}
[ -d "$data/models" ] || { echo "no models in $data (set AXON_TEST_DATA)"; exit 77; }
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
bad=0 n=0 unfit=0
for model in "$data"/models/*/model.onnx; do
  for set in "$(dirname "$model")"/test_data_set_*; do
    extra=""
    # Scores near 0 (largest 2.4e-4): the data carries the sigmoid error of its maker, 1.2e-7.
    case $set in */yunet-n-dynamic/test_data_set_1) extra="--atol 1e-3" ;; esac
    n=$((n + 1))
    "$run" --device "$device" ${config:+"$config"} "$model" --expect "$set" $extra > "$tmp/log" 2>&1 && continue
    if grep -q "does not follow a batch" "$tmp/log"; then unfit=$((unfit + 1)); continue; fi
    bad=$((bad + 1)); echo "FAIL $set"; cat "$tmp/log"
  done
done
if [ "$device" = CPU ] && /usr/bin/python3 -c 'import onnx, numpy' 2>/dev/null; then
  for light in "$data"/models/light-*; do
    n=$((n + 1)); set=$tmp/$(basename "$light"); mkdir -p "$set/set"
    /usr/bin/python3 "$data/tools/light2random.py" "$light/model.onnx" "$set/model.onnx" 3 &&
      cp "$light"/test_data_set_0/input_0.pb "$set/set/" &&
      "$run" --device TEMPLATE --config DISABLE_TRANSFORMATIONS=YES "$set/model.onnx" \
        --input "$set/set/input_0.pb" --save "$set" > /dev/null 2>&1 &&
      /usr/bin/python3 -c "import sys, numpy, onnx.numpy_helper as h
open(sys.argv[2], 'wb').write(h.from_array(numpy.load(sys.argv[1])).SerializeToString())" \
        "$set/output_0.npy" "$set/set/output_0.pb" &&
      "$run" --device "$device" "$set/model.onnx" --expect "$set/set" > "$tmp/log" 2>&1 || {
      bad=$((bad + 1)); echo "FAIL $light with random weights"; cat "$tmp/log"; }
  done
fi
[ $unfit = 0 ] || echo "$unfit sets do not fit a batch"
echo "$((n - bad - unfit)) passed, $bad failed"
[ $bad = 0 ]
