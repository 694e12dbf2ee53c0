#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Four cameras on a wall, with one model for all: pipelines/wall.sh [VIDEO...]
# Leaves wall.mkv and for each camera N wall-N.jsonl in out/.
set -eu
. "$(dirname "$0")/common.sh"
[ $# -gt 0 ] || set -- "$media"/{one-by-one-person-detection,car-detection,bottle-detection}.mp4 "$media/asl-walk.mkv"
cameras=() places=() n=0
for video in "${@:1:4}"; do
  cameras+=($(FRAMES= play "$video") !
    nninfer "model=$models/yolox-nano-416/model.onnx" model-instance-id=wall ! nndecode threshold=0.4 !
    nnpublish "source=camera-$n" "location=$out/wall-$n.jsonl" add-empty-results=true ! nnoverlay ! videoconvert ! videoscale !
    video/x-raw,width=480,height=270,pixel-aspect-ratio=1/1 ! queue ! wall.sink_$n)
  places+=(sink_$n::xpos=$((n % 2 * 480)) sink_$n::ypos=$((n / 2 * 270)))
  n=$((n + 1))
done
launch "${cameras[@]}" compositor name=wall "${places[@]}" background=black ! $(first_frames) $(keep wall)
still wall
