#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The main job on a bare Debian 12 or 13: installs what is missing, builds, runs a detector on a
# generated video, and leaves annotated frames and JSON lines in out/.
set -eu
cd "$(dirname "$0")/.."
. .ci/packages.sh
install_packages $BUILD_PACKAGES
build=_build/quickstart
build $build -Dtests=false -Dintrospection=disabled
out=$PWD/out
rm -rf "$out" && mkdir -p "$out"
export AXON_PLUGIN_PATH=$PWD/$build/plugins/cpu:$PWD/$build/plugins/template
export GST_PLUGIN_PATH_1_0=$PWD/$build/gst GST_REGISTRY_1_0=$PWD/$build/registry.bin
gst-launch-1.0 -q videotestsrc num-buffers=60 pattern=ball ! video/x-raw,format=NV12,width=320,height=240,framerate=30/1 ! \
  nninfer model=pipelines/quickstart/ball.onnx device=CPU ! nndecode ! nnpublish location="$out/results.jsonl" ! \
  nnoverlay ! videoconvert ! pngenc ! multifilesink location="$out/frame%02d.png"
frames=$(ls "$out"/frame*.png | wc -l)
lines=$(wc -l < "$out/results.jsonl")
first=$(sed -n '1s/.*"h":\([0-9]*\).*"w":\([0-9]*\),"x":\([0-9]*\),"y":\([0-9]*\).*/a box of \2x\1 at \3,\4/p' "$out/results.jsonl")
echo "found the ball in $lines of $frames frames; in the first: $first"
echo "annotated frames: $out/frame*.png; results: $out/results.jsonl"
[ "$lines" -ge $((frames * 9 / 10)) ]
