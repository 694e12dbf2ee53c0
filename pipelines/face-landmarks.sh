#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Finds faces, and on each the points of a mesh: pipelines/face-landmarks.sh [VIDEO]
# Leaves face-landmarks.jsonl, with the points of each face, and face-landmarks.mkv in out/. The second model looks at the
# faces only, a quarter larger than the first one's boxes, as it was trained.
set -eu
. "$(dirname "$0")/common.sh"
launch $(play "${1:-$media/faces-8.jpg}") ! \
  nninfer model="$models/ultraface-rfb-320/model.onnx" ! nndecode threshold=0.7 ! \
  nninfer model="$models/facemesh-v2-fp16-256/model.onnx" inference-region=roi-list region-margin=0.25 ! nndecode ! \
  nnpublish location="$out/face-landmarks.jsonl" ! nnoverlay labels=false scores=false ! $(keep face-landmarks)
still face-landmarks
