#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Models on the objects of other models, and tracks, on real pictures and videos.
. "$(dirname "$0")/support.sh"
patience=140
detect="nninfer model=$models/yolox-nano-416/model.onnx"
faces="nninfer model=$models/yunet-n-dynamic/model.onnx ! nndecode threshold=0.7"
mesh="nninfer model=$models/facemesh-v2-fp16-256/model.onnx inference-region=roi-list region-align=eyes region-square=true \
  region-margin=0.25"
find_text="nninfer model=$models/ppocrv3-det-en/model.onnx labels=text"
read_text="nninfer model=$data/families/ppocrv6-rec-tiny/model.onnx inference-region=roi-list object-class=text width=320"

# Corners of the eyes are points 33 and 263 of the mesh.
eyes='[(lambda a, b: (b["x"] - a["x"], b["y"] - a["y"]))(o["keypoints"][33], o["keypoints"][263]) for o in records[0]["objects"]]'
play filesrc location="$data/media/faces-8.jpg" ! jpegdec ! $faces ! $mesh ! nndecode ! $publish ! fakesink
check "each of eight faces has its own mesh, within its box" 'len(records[0]["objects"]) == 8 and all(
  len(o["keypoints"]) == 478 and abs(sum(p["x"] for p in o["keypoints"]) / 478 - o["x"] - o["w"] / 2) < o["w"] / 3
  for o in records[0]["objects"])'
check "eyes of people lie side by side" "all(x > 10 and abs(y) < x / 2 for x, y in $eyes)"
play filesrc location="$data/media/portrait.jpg" ! jpegdec ! videoconvert ! videoscale ! video/x-raw,width=657,height=876 ! \
  rotate angle=0.5 ! videoconvert ! $faces ! $mesh ! nndecode ! $publish ! fakesink
check "a face that is turned is turned back for its mesh" \
  "len(records[0]['objects']) == 1 and abs(__import__('math').atan2(*reversed($eyes[0])) + 0.5) < 0.1"

play filesrc location="$data/media/sign-en.jpg" ! jpegdec ! $find_text ! nndecode ! $read_text ! nndecode threshold=0.3 ! \
  $publish ! fakesink
check "the sign is read line by line" \
  '"Japan Coast Guard" in [o.get("text", {}).get("label") for o in records[0]["objects"]]'
play compositor name=c sink_1::xpos=1230 sink_1::ypos=400 ! videoconvert ! video/x-raw,format=RGB ! \
  $detect ! nndecode threshold=0.5 ! $find_text inference-region=roi-list object-class=car width=320 height=320 ! nndecode ! \
  $read_text ! nndecode threshold=0.5 ! $publish ! fakesink \
  filesrc location="$data/media/street-people-dog.jpg" ! jpegdec ! videoscale ! video/x-raw,width=1536,height=1024 ! c.sink_0 \
  filesrc location="$data/media/sign-en.jpg" ! jpegdec ! videocrop left=505 right=120 top=385 bottom=118 ! c.sink_1
check "a plate is read, and it is the plate of a car" '[("car", "Japan Coast Guard")] == [
  (next(c["roi_type"] for c in records[0]["objects"] if c["region_id"] == o["parent_id"]), o["text"]["label"])
  for o in records[0]["objects"] if "text" in o]'
play filesrc location="$data/media/street-people-dog.jpg" ! jpegdec ! $detect ! nndecode threshold=0.5 ! \
  nninfer model="$data/families/osnet-x025-reid-256x128/model.onnx" inference-region=roi-list object-class=person ! nndecode ! \
  nnpublish add-tensor-data=true location="$tmp/out" ! fakesink
check "people have embeddings, dogs and cars have none" \
  'all(("embedding" in o) == (o["roi_type"] == "person") for o in records[0]["objects"]) and labels(records[0]).count("person") == 3'

track() { # INTERVAL FRAMES VIDEO
  play filesrc location="$data/media/$3" ! decodebin ! queue ! identity eos-after="$2" ! $detect inference-interval="$1" ! \
    nndecode threshold=0.1 hold-time=0 ! nntrack ! $publish ! fakesink
  cp "$tmp/out" "$tmp/tracks-$1"
}
# fits NAME LEAST TRACKS: IDF1 of tracks of every third frame's objects, beside those of every frame's
fits() {
  n=$((n + 1))
  read -r idf1 all third <<< "$(python3 "$(dirname "$0")/idf1.py" "$tmp/tracks-1" "$tmp/tracks-3")"
  if [ "$all $third" = "$3 $3" ] && awk "BEGIN { exit !($idf1 >= $2) }"; then echo "pass $1 (IDF1 $idf1)"; else
    bad=$((bad + 1)); echo "FAIL $1: IDF1 $idf1, $all and $third tracks"; fi
}
track 1 720 one-by-one-person-detection.mp4; track 3 720 one-by-one-person-detection.mp4
fits "three people who come one by one have three numbers, inferred or not" 0.95 3
track 1 215 car-detection.mp4; track 3 215 car-detection.mp4
fits "what drives by keeps its number on frames that were not inferred" 0.8 2
echo "$((n - bad)) passed, $bad failed"
[ $bad = 0 ]
