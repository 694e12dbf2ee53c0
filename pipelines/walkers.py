#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A rule of one's own, in Python: a dog that has nobody within twice its own width is said to walk alone,
in a line of JSON and in the video walkers.mkv.
usage: walkers.py [PICTURE or VIDEO]; AXON_DATA is where models and media are, OUT where the video goes (out)"""
import json
import math
import os
import pathlib
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstNn", "1.0")
from gi.repository import Gst, GstNn

PIPELINE = """filesrc name=file ! decodebin ! videoconvert ! nninfer name=model ! nndecode threshold=0.5 !
  nnoverlay name=drawing ! videoconvert ! jpegenc ! matroskamux ! filesink name=out"""


def objects(results, label):
    """The objects with this label, each with its box x, y, width, height."""
    return [(o, o.get_box()) for o in results.get_objects() if o.get_label() == label]


def distance(a, b):
    """Between the edges of two boxes; 0 where they meet."""
    across = max(a[0] - b[0] - b[2], b[0] - a[0] - a[2], 0)
    down = max(a[1] - b[1] - b[3], b[1] - a[1] - a[3], 0)
    return math.hypot(across, down)


def on_frame(_pad, info):
    results = GstNn.buffer_get_nn_result_meta(info.get_buffer())
    people = objects(results, "person")
    for dog, box in objects(results, "dog"):
        nearest = min((distance(box, p) for _, p in people), default=math.inf)
        alone = nearest > 2 * box[2]
        dog.add_attribute(GstNn.Attribute.new("company", "alone" if alone else "with its people", -1, 1))
        print(json.dumps({"people": len(people), "dog": [round(v) for v in box], "alone": alone}), flush=True)
    return Gst.PadProbeReturn.OK


def main():
    data = pathlib.Path(os.environ.get("AXON_DATA") or os.environ.get("AXON_TEST_DATA") or "../shared")
    Gst.init(None)
    pipeline = Gst.parse_launch(PIPELINE)
    pipeline.get_by_name("file").props.location = (
        sys.argv[1] if len(sys.argv) > 1 else str(data / "media/street-people-dog.jpg"))
    pipeline.get_by_name("model").props.model = str(data / "models/yolox-nano-416/model.onnx")
    out = pathlib.Path(os.environ.get("OUT") or "out")
    out.mkdir(parents=True, exist_ok=True)
    pipeline.get_by_name("out").props.location = str(out / "walkers.mkv")
    pipeline.get_by_name("drawing").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, on_frame)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit(message.parse_error()[0].message)


main()
