#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boxes from Python. usage: boxes.py PIPELINE..., as for gst-launch-1.0, with nndecode name=results in it"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstNn", "1.0")
from gi.repository import Gst, GstNn


def on_frame(pad, info):
    results = GstNn.buffer_get_nn_result_meta(info.get_buffer())
    for o in results.get_objects() if results else []:
        print(o.get_id(), o.get_label(), f"{o.get_score():.2f}", [round(v) for v in o.get_box()])
    return Gst.PadProbeReturn.OK


Gst.init(None)
pipeline = Gst.parse_launch(" ".join(sys.argv[1:]))
pipeline.get_by_name("results").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, on_frame)
pipeline.set_state(Gst.State.PLAYING)
message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
pipeline.set_state(Gst.State.NULL)
if message.type == Gst.MessageType.ERROR:
    sys.exit(str(message.parse_error()[0]))
