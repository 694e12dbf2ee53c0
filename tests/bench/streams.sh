#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Peak memory of one stream, of four that share a model by model-instance-id, of four with a model each, and of four
# without one: medians of five runs. Run it within `meson devenv -C BUILD`. usage: streams.sh MODEL...
set -u
streams() { # N ELEMENTS: kilobytes
  local launch=()
  for _ in $(seq "$1"); do
    launch+=(videotestsrc num-buffers=60 ! video/x-raw,width=640,height=480,format=I420 ! "${@:2}" ! fakesink)
  done
  for _ in 1 2 3 4 5; do /usr/bin/time -f %M gst-launch-1.0 -q "${launch[@]}" 2>&1 | tail -1; done | sort -n | sed -n 3p
}
printf '| model | one stream, MB | four that share | ratio | four apart | ratio |\n|---|---|---|---|---|---|\n'
for model; do
  alone=$(streams 1 nninfer model="$model" model-instance-id=one ! nndecode)
  shared=$(streams 4 nninfer model="$model" model-instance-id=one ! nndecode)
  apart=$(streams 4 nninfer model="$model" ! nndecode)
  awk -v name="$(basename "$(dirname "$model")")" -v a="$alone" -v s="$shared" -v p="$apart" 'BEGIN {
    printf "| %s | %.0f | %.0f | %.2f | %.0f | %.2f |\n", name, a / 1024, s / 1024, s / a, p / 1024, p / a }'
done
echo "Four streams without a model: $(($(streams 4 identity) / 1024)) MB, one: $(($(streams 1 identity) / 1024)) MB."
