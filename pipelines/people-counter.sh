#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Counts who walks over a line, and shows where people were most: pipelines/people-counter.sh [VIDEO]
# Leaves people-counter.jsonl, a record whenever something changes, and people-counter.mkv in out/. Lines and zones
# are in people-counter.json (docs/analytics.md).
set -eu
. "$(dirname "$0")/common.sh"
launch $(play "${1:-$media/one-by-one-person-detection.mp4}") ! \
  nninfer model="$models/yolox-nano-416/model.onnx" inference-interval=2 ! \
  nndecode threshold=0.4 ! nntrack ! \
  nnanalytics settings-location="$here/people-counter.json" ! \
  nnpublish on-change=true labels=person location="$out/people-counter.jsonl" ! nnoverlay ! $(keep people-counter)
still people-counter
