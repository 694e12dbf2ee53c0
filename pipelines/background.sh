#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Blurs what is behind a person, or shows a picture there: pipelines/background.sh [VIDEO [PICTURE]]
# Leaves background.mkv in out/. The matte is the opacity of the frames (alphacombine of gst-plugins-bad): a sixth and less is
# nothing, two thirds and more are all.
set -eu
. "$(dirname "$0")/common.sh"
yuv=video/x-raw,format=I420,colorimetry=1:4:0:0 # of both: from 0 to 255
size=width=640,height=480,pixel-aspect-ratio=1/1
if [ -n "${2:-}" ]; then
  background="filesrc location=$2 ! decodebin ! videoconvert ! videoscale add-borders=false"
else
  background="all. ! queue ! videoscale ! video/x-raw,width=40,height=30 ! videoscale"
fi
launch $(FRAMES= play "${1:-$media/asl-walk.mkv}") ! videoscale ! $yuv,$size ! tee name=all \
  all. ! queue ! person.sink \
  all. ! queue ! nninfer model="$models/sinet-portrait-320/model.onnx" ! nntensor2video ! videoconvert ! $yuv ! \
  videobalance contrast=2 brightness=-0.25 ! videoscale ! $yuv,$size ! person.alpha \
  $background ! video/x-raw,$size ! scene.sink_0 \
  alphacombine name=person ! scene.sink_1 \
  compositor name=scene sink_0::repeat-after-eos=true ! $(first_frames) $(keep background)
still background
