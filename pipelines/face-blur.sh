#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Hides faces: pipelines/face-blur.sh [VIDEO]
# Leaves face-blur.jsonl, where the faces are, and face-blur.mkv in out/. Every frame is inferred, tracks hide a face where
# the model misses it for a while, and a frame of which nothing is known is hidden as a whole.
set -eu
. "$(dirname "$0")/common.sh"
launch $(play "${1:-$media/faces-8.jpg}") ! \
  nninfer model="$models/ultraface-rfb-320/model.onnx" drop-policy=none ! nndecode threshold=0.5 ! nntrack ! \
  nnpublish location="$out/face-blur.jsonl" ! \
  nnoverlay blur=face fail-closed=true boxes=false labels=false scores=false tracks=false tail-length=0 ! $(keep face-blur)
still face-blur
