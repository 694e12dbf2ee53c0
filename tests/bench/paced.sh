#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Latency of nninfer when frames arrive 30 times a second, as from a camera: threads bound, not bound,
# and one thread, interleaved. usage: paced.sh MODEL.onnx [property=value of nninfer...]
set -eu
model=$1; shift
latency() { # threads, bound
  GST_DEBUG_NO_COLOR=1 GST_TRACERS="latency(flags=element)" GST_DEBUG=GST_TRACER:7 gst-launch-1.0 -q \
    videotestsrc is-live=true num-buffers=200 ! video/x-raw,format=RGB,width=320,height=240,framerate=30/1 ! \
    nninfer model="$model" nireq=1 config=config,INFERENCE_NUM_THREADS="$1",ENABLE_CPU_PINNING="$2" "${@:3}" ! \
    fakesink sync=false 2>&1 |
    sed -nE '/element-latency,.*nninfer/s/.* time=\(guint64\)([0-9]+).*/\1/p' | sort -n |
    awk -v what="$1 threads, bound: $2" '{ ns[NR] = $1 } END {
      printf "%s: median %.2f ms, p95 %.2f ms of %d frames\n", what, ns[int(NR / 2)] / 1e6, ns[int(NR * .95)] / 1e6, NR }'
}
for round in 1 2 3; do
  latency 2 NO "$@"
  latency 2 YES "$@"
  latency 1 NO "$@"
done
