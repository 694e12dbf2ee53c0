#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Cost of one 720p frame of preprocessing to 320x240: nnpreproc (tensor, normalised) beside
# videoconvertscale (picture only). Microseconds per frame, slope between two lengths, interleaved.
set -eu
format=${1:-NV12}
src() { echo "videotestsrc num-buffers=1 ! video/x-raw,format=$format,width=1280,height=720 ! imagefreeze num-buffers=$1"; }
seconds() { local a b; a=$(date +%s%N); gst-launch-1.0 -q "$@" > /dev/null 2>&1; b=$(date +%s%N); echo $(((b - a) / 1000)); }
axon() { seconds $(src "$1") ! nnpreproc mean='<127>' scale='<128>' width=320 height=240 ! fakesink; }
peer() { seconds $(src "$1") ! videoconvertscale ! video/x-raw,format=RGB,width=320,height=240 ! fakesink; }
short=200 long=2200
for round in 1 2 3 4 5; do
  echo "$format round $round: nnpreproc $((($(axon $long) - $(axon $short)) / (long - short))) us," \
    "videoconvertscale $((($(peer $long) - $(peer $short)) / (long - short))) us"
done
