#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Finds shapes of five kinds in a generated video, follows them and counts who goes over a line: pipelines/shapes.sh
# Leaves shapes.jsonl, a record of each frame, shapes.mkv, what was drawn, and shapes.jpg, the last of it, in out/; what there
# was to find is in shapes-truth.jsonl. The model is one of our own (quickstart/shapes.py).
set -eu -o pipefail
. "$(dirname "$0")/keep.sh"
moving-shapes --frames "${FRAMES:-120}" --truth "$out/shapes-truth.jsonl" |
  launch fdsrc ! rawvideoparse format=rgb width=640 height=480 framerate=30/1 ! \
    nninfer model="$here/quickstart/shapes.onnx" device=CPU ! nndecode ! nntrack min-hits=5 ! \
    nnanalytics settings='{ "lines": [{ "name": "middle", "from": [0.5, 0], "to": [0.5, 1] }], "anchor": "center" }' ! \
    nnpublish location="$out/shapes.jsonl" ! nnoverlay tail-length=2 legend=true ! $(keep shapes)
still shapes
# Numbers of tracks by kind; the line as it was on the last frame.
followed=$(grep -o '"id":[0-9]*,[^}]*"roi_type":"[a-z]*"' "$out/shapes.jsonl" | sed 's/"id":\([0-9]*\),.*:"\(.*\)"/\2 \1/' |
  sort -u | cut -d ' ' -f 1 | uniq -c | awk '{ printf "%s%d %s", comma, $1, $2; comma = ", " }')
crossed=$(sed -n '$s/.*"count":\([0-9]*\),"count_back":\([0-9]*\).*/\1 to the left, \2 to the right/p' "$out/shapes.jsonl")
echo "followed: $followed; over the line: $crossed"
echo "the last picture: $out/shapes.jpg; all: $out/shapes.mkv, $out/shapes.jsonl"
