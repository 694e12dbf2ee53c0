# SPDX-License-Identifier: LGPL-2.1-or-later
"""A video through `filesrc ! decodebin ! nninfer ! nndecode ! fakesink` with what nninfer chooses, beside a loop of OpenCV's
reader and ONNX Runtime."""
import json
import os
import sys

import tables

HERE = os.path.dirname(os.path.abspath(__file__))
ROW = "YOLOX-Nano, 377 frames of 768x432|all"


def figures(out):
    if out is None:
        return None
    r = json.loads(out.strip().splitlines()[-1])
    return {"fps": (r["frames"] - 1) / r["seconds"], "cpu_ms": r["cpu"] * 1e3 / (r["frames"] - 1), "rss_kb": r["rss_kb"]}


class Pipeline:
    title = "A video"

    def __init__(self, isa):
        self.name = "pipeline" + (f"-{isa}" if isa else "")

    def measure(self, a):
        video = os.path.join(a.data, "media/car-detection.mp4")
        model = os.path.join(a.data, "models/yolox-nano-416/model.onnx")
        launch = (f"filesrc location={video} ! decodebin ! nninfer model={model} color=bgr resize=top-left pad-value=114 ! "
                  "nndecode ! fakesink name=end")
        a.results.forget(self.name, ROW)
        for _ in range(a.rounds):
            ours = a.engines.run(["/usr/bin/python3", os.path.join(HERE, "video_ours.py"), launch], True)
            a.results.add(self.name, ROW, "axon", figures(ours))
            peer = a.engines.run([sys.executable, os.path.join(HERE, "video_peer.py"), video, model], False)
            a.results.add(self.name, ROW, "onnxruntime", figures(peer))

    def report(self, a):
        lines = ["| | frames a second | processor ms a frame | peak memory MB |", "|---|---|---|---|"]
        titles = {"axon": "`filesrc ! decodebin ! nninfer ! nndecode ! fakesink`", "onnxruntime": "OpenCV and ONNX Runtime"}
        found = {e: {f: a.results.median(self.name, ROW, e, f) for f in ("fps", "cpu_ms", "rss_kb")} for e in titles}
        for engine, title in titles.items():
            f = found[engine]
            memory = f["rss_kb"] and f["rss_kb"] / 1024
            lines.append(f"| {title} | {tables.cell(f['fps'])} | {tables.cell(f['cpu_ms'])} | {tables.cell(memory)} |")
        x, y = found.values()
        if x["fps"] and y["fps"]:
            lines.append(f"| ratio | **{x['fps'] / y['fps']:.2f}** | **{x['cpu_ms'] / y['cpu_ms']:.2f}** | "
                         f"{x['rss_kb'] / y['rss_kb']:.2f} |")
        return ["car-detection.mp4 (377 frames of 768x432), YOLOX-Nano, everything by default.", "", *lines]
