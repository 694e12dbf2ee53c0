#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A pipeline whose nninfer runs on a backend of another vendor. usage: pipeline.sh MODEL
set -u
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
for device in ONNXIFI.0 HETERO:ONNXIFI.0,CPU; do
  timeout 60 gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=12 ! video/x-raw,width=320,height=240 ! \
    nninfer model="$1" device=$device ! nndecode ! nnpublish location="$tmp/out" ! fakesink || exit 1
  found=$(grep -c '"label": *"ball"' "$tmp/out")
  echo "$device: $found of 12 frames show the ball"
  [ "$found" -ge 10 ] || { head -3 "$tmp/out"; exit 1; }
done
