#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays a pipeline whose last element is called "end", and prints as JSON what came there: frames, seconds from the first
to the last, processor time of them. Needs the gi of the system's Python. usage: video_ours.py PIPELINE"""
import json
import resource
import sys
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402 (the version comes first)


def now():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), r.ru_utime + r.ru_stime


Gst.init(None)
pipeline, seen = Gst.parse_launch(sys.argv[1]), []


def count(_pad, _info):
    seen.append(now())
    return Gst.PadProbeReturn.OK


pipeline.get_by_name("end").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, count)
pipeline.set_state(Gst.State.PLAYING)
message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
pipeline.set_state(Gst.State.NULL)
if message.type == Gst.MessageType.ERROR:
    sys.exit(message.parse_error()[1])
print(json.dumps({"frames": len(seen), "seconds": seen[-1][0] - seen[0][0], "cpu": seen[-1][1] - seen[0][1],
                  "rss_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
