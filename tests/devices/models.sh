#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every shared model gives its expected outputs, on TEMPLATE and CPU the other families of networks,
# too; on CPU the light ones also agree with the reference kernels (no passes) after they got random
# weights. Of devices behind others the first part only; a model that no batch fits is counted apart.
# With --quantised, only models with 8-bit operators. AXON_TEST_MODEL_SECONDS bounds what a run may take.
# usage: models.sh [--quantised] axon-run DEVICE DATA [KEY=VALUE]
set -u
quantised=
[ "$1" != --quantised ] || { quantised=yes; shift; }
run=$1 device=$2 data=${AXON_TEST_DATA:-$3} config=${4:+--config=$4}
[ -d "$data/models" ] || { echo "no models in $data (set AXON_TEST_DATA)"; exit 77; }
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
bad=0 n=0 unfit=0
limit="timeout ${AXON_TEST_MODEL_SECONDS:-0}" # 0: none
folders=("$data"/models/*/)
case $device in CPU|TEMPLATE) [ ! -d "$data/families" ] || folders+=("$data"/families/*/) ;; esac

# Expected outputs that cannot be compared as numbers; a reason for each. They must differ.
incomparable() {
  case $1 in
    # Rows in the order of their scores: where two swap, both differ. decoded.py compares the objects.
    yolo26n-640-end2end-dynquant) return 0 ;;
  esac
  return 1
}

# Of the output that is furthest off, beside its largest number.
figures() {
  sed -nE 's/.*largest difference ([^ ]+) of ([^ ]+).*/\1 \2/p' "$tmp/log" |
    awk '{ ratio = $2 > 0 ? $1 / $2 : $1 } NR == 1 || ratio > worst { worst = ratio; text = $1 " of " $2 }
      END { print text ? text : "unknown" }'
}

for folder in "${folders[@]}"; do
  model=${folder}model.onnx name=$(basename "$folder")
  [ -f "$model" ] || continue
  [ -z "$quantised" ] || grep -qaE 'DequantizeLinear|QLinearConv|ConvInteger' "$model" || continue
  for set in "$folder"test_data_set_*; do
    extra=""
    case $set in
      # Scores near 0 (largest 2.4e-4): the data carries the sigmoid error of its maker, 1.2e-7.
      */yunet-n-dynamic/test_data_set_1) extra="--atol 1e-3" ;;
      # Its maker rounds to halves after some operators only; TEMPLATE after each.
      */yolov5n-640-fp16/*) extra="--atol 2e-3" ;;
    esac
    n=$((n + 1)) start=$SECONDS
    $limit "$run" --device "$device" ${config:+"$config"} "$model" --expect "$set" $extra > "$tmp/log" 2>&1; status=$?
    [ $status != 124 ] || echo "no result after $AXON_TEST_MODEL_SECONDS s" >> "$tmp/log"
    echo "$name/${set##*_}: largest difference $(figures), $((SECONDS - start)) s"
    if incomparable "$name"; then
      grep -q ' differs: ' "$tmp/log" && continue
      bad=$((bad + 1)); echo "FAIL $set: agrees, or does not run, and is said to differ"; cat "$tmp/log"
      continue
    fi
    [ $status != 0 ] || continue
    if grep -q "does not follow a batch" "$tmp/log"; then unfit=$((unfit + 1)); continue; fi
    bad=$((bad + 1)); echo "FAIL $set"; cat "$tmp/log"
  done
done
if [ "$device" != CPU ] || [ -n "$quantised" ]; then
  : # the light models are for device CPU, in floating point
elif ! /usr/bin/python3 -c 'import onnx, numpy' 2>/dev/null; then
  echo "skipped: the light models with random weights (python3-onnx, python3-numpy)"
else
  for light in "$data"/models/light-*; do
    n=$((n + 1)) start=$SECONDS set=$tmp/$(basename "$light")
    mkdir -p "$set/set"
    /usr/bin/python3 "$data/tools/light2random.py" "$light/model.onnx" "$set/model.onnx" 3 &&
      cp "$light"/test_data_set_0/input_0.pb "$set/set/" &&
      $limit "$run" --device TEMPLATE --config DISABLE_TRANSFORMATIONS=YES "$set/model.onnx" \
        --input "$set/set/input_0.pb" --save "$set" > /dev/null 2>&1 &&
      /usr/bin/python3 -c "import sys, numpy, onnx.numpy_helper as h
open(sys.argv[2], 'wb').write(h.from_array(numpy.load(sys.argv[1])).SerializeToString())" \
        "$set/output_0.npy" "$set/set/output_0.pb" &&
      $limit "$run" --device "$device" "$set/model.onnx" --expect "$set/set" > "$tmp/log" 2>&1 || {
      bad=$((bad + 1)); echo "FAIL $light with random weights"; cat "$tmp/log"; continue; }
    echo "$(basename "$light"), random weights: largest difference $(figures), $((SECONDS - start)) s"
  done
fi
[ $unfit = 0 ] || echo "$unfit sets do not fit a batch"
echo "$((n - bad - unfit)) passed, $bad failed"
[ $bad = 0 ]
