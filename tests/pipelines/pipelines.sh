#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Pipelines on real pictures and videos, with the results that they must give.
. "$(dirname "$0")/support.sh"
ultraface="nninfer model=$models/ultraface-rfb-320/model.onnx mean=<127> scale=<128> labels=background,face"
yolox="nninfer model=$models/yolox-nano-416/model.onnx color=bgr resize=top-left pad-value=114 labels-file=$models/labels/coco80.txt"

play filesrc location="$data/media/faces-8.jpg" ! jpegdec ! $ultraface ! nndecode threshold=0.7 ! $publish ! fakesink
check "eight faces are found" 'len(records) == 1 and labels(records[0]) == ["face"] * 8'
play filesrc location="$data/media/faces-8.jpg" ! jpegdec ! nnpreproc mean='<127>' scale='<128>' ! \
  nninfer model="$models/ultraface-rfb-320/model.onnx" labels=background,face ! nndecode threshold=0.7 ! $publish ! fakesink
check "eight faces are found through tensors" 'len(records) == 1 and labels(records[0]) == ["face"] * 8'
play filesrc location="$data/media/street-people-dog.jpg" ! jpegdec ! $yolox ! nndecode threshold=0.5 ! $publish ! fakesink
check "the street has a dog, people and cars" \
  '{"dog", "person", "car"} <= set(labels(records[0])) and labels(records[0]).count("person") == 3'
play filesrc location="$data/media/goldfish.jpg" ! jpegdec ! nninfer model="$models/mobilenetv2-1.0-224-fp32/model.onnx" \
  labels-file="$models/labels/imagenet1000.txt" resize=crop mean='<123.675,116.28,103.53>' scale='<58.395,57.12,57.375>' ! \
  nndecode threshold=0.3 ! $publish ! fakesink
check "the goldfish is a goldfish" \
  'records[0]["objects"][0]["classification/model"]["label"].startswith("goldfish")'
play filesrc location="$data/media/one-by-one-person-detection.mp4" ! decodebin ! queue ! identity eos-after=120 ! \
  $yolox inference-interval=4 ! nndecode threshold=0.5 ! $publish ! nnoverlay ! videoconvert ! fakesink
check "a person walks through the video" 'sum("person" in labels(r) for r in records) >= 10'
play filesrc location="$data/media/asl-walk.mkv" ! decodebin ! queue ! identity eos-after=40 ! $ultraface ! nndecode ! $publish ! fakesink
check "the woman's face is found in most frames" 'len(records) >= 30'
play filesrc location="$data/media/faces-8.jpg" ! jpegdec ! nninfer model="$models/yunet-n-dynamic/model.onnx" ! fakesink
n=$((n + 1)); if grep -q ERROR "$tmp/log"; then bad=$((bad + 1)); echo "FAIL a model of free size"; else echo "pass a model of free size takes the frame's"; fi
# Device GPU, on a processor where OpenCL has no other.
export AXON_GPU_ALLOW_CPU=1
if timeout 60 gst-launch-1.0 -q filesrc location="$data/media/faces-8.jpg" ! jpegdec ! $ultraface device=GPU ! \
  nndecode threshold=0.7 ! $publish ! fakesink > "$tmp/log" 2>&1 || ! grep -q "no OpenCL platform\|no GPU" "$tmp/log"; then
  check "eight faces are found on device GPU" 'len(records) == 1 and labels(records[0]) == ["face"] * 8'
else
  echo "skip device GPU: no OpenCL device"
fi
export AXON_GPU_ALLOW_CPU=0
# Nothing of GStreamer's is left alive.
GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 timeout 60 gst-launch-1.0 -q filesrc location="$data/media/faces-8.jpg" ! \
  jpegdec ! $ultraface ! nndecode ! nnoverlay ! fakesink 2> "$tmp/leaks" > /dev/null
n=$((n + 1)); if grep -q 'object-alive, type-name=(string)Gst' "$tmp/leaks"; then
  bad=$((bad + 1)); echo "FAIL objects leak"; grep 'type-name=(string)Gst' "$tmp/leaks" | head; else echo "pass no object leaks"; fi
# The tracer follows each frame through nninfer, which hands frames from thread to thread.
GST_TRACERS="latency(flags=element)" GST_DEBUG=GST_TRACER:7 timeout 60 gst-launch-1.0 -q filesrc location="$data/media/asl-walk.mkv" ! \
  decodebin ! videoconvert ! $ultraface name=faces ! nndecode ! queue ! identity eos-after=10 ! fakesink 2> "$tmp/trace" > /dev/null
n=$((n + 1)); if [ "$(grep -c 'element-latency.*element=(string)faces' "$tmp/trace")" -ge 9 ]; then echo "pass each frame's time in nninfer is traced"; else
  bad=$((bad + 1)); echo "FAIL frames are not traced through nninfer"; fi
echo "$((n - bad)) passed, $bad failed"
[ $bad = 0 ]
