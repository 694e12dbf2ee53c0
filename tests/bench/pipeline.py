# SPDX-License-Identifier: LGPL-2.1-or-later
"""A video through pipelines with what nninfer chooses, beside a loop of OpenCV's reader and ONNX Runtime."""
import json
import os
import sys

import tables

HERE = os.path.dirname(os.path.abspath(__file__))
ROW = "YOLOX-Nano, 377 frames of 768x432|all"
CHAIN = "YOLOX-Nano, tracks, MobileNet v2 for each object, 377 frames of 768x432|all"
CLASSIFIER = "models/mobilenetv2-1.0-224-fp32/model.onnx"


def figures(out):
    if out is None:
        return None
    r = json.loads(out.strip().splitlines()[-1])
    return {"fps": (r["frames"] - 1) / r["seconds"], "cpu_ms": r["cpu"] * 1e3 / (r["frames"] - 1), "rss_kb": r["rss_kb"]}


class Pipeline:
    title = "A video"
    names = {"axon": "`filesrc ! decodebin ! nninfer ! nndecode ! fakesink`", "onnxruntime": "OpenCV and ONNX Runtime"}
    what = "car-detection.mp4 (377 frames of 768x432), YOLOX-Nano, everything by default."
    part, row = "pipeline", ROW

    def __init__(self, isa):
        self.name = self.part + (f"-{isa}" if isa else "")

    def behind(self, _):
        """What stands behind the detector, and its files for the peer."""
        return "nndecode", []

    def measure(self, a):
        video = os.path.join(a.data, "media/car-detection.mp4")
        model = os.path.join(a.data, "models/yolox-nano-416/model.onnx")
        elements, files = self.behind(a)
        launch = (f"filesrc location={video} ! decodebin ! nninfer model={model} color=bgr resize=top-left pad-value=114 ! "
                  f"{elements} ! fakesink name=end")
        a.results.forget(self.name, self.row)
        for _ in range(a.rounds):
            ours = a.engines.run(["/usr/bin/python3", os.path.join(HERE, "video_ours.py"), launch], True)
            a.results.add(self.name, self.row, "axon", figures(ours))
            peer = a.engines.run([sys.executable, os.path.join(HERE, "video_peer.py"), video, model, *files], False)
            a.results.add(self.name, self.row, "onnxruntime", figures(peer))

    def report(self, a):
        lines = ["| | frames a second | processor ms a frame | peak memory MB |", "|---|---|---|---|"]
        found = {e: {f: a.results.median(self.name, self.row, e, f) for f in ("fps", "cpu_ms", "rss_kb")} for e in self.names}
        for engine, title in self.names.items():
            f = found[engine]
            memory = f["rss_kb"] and f["rss_kb"] / 1024
            lines.append(f"| {title} | {tables.cell(f['fps'])} | {tables.cell(f['cpu_ms'])} | {tables.cell(memory)} |")
        x, y = found.values()
        if x["fps"] and y["fps"]:
            lines.append(f"| ratio | **{x['fps'] / y['fps']:.2f}** | **{x['cpu_ms'] / y['cpu_ms']:.2f}** | "
                         f"{x['rss_kb'] / y['rss_kb']:.2f} |")
        return [self.what, "", *lines]


class Chain(Pipeline):
    title = "Detect, track, classify"
    names = {"axon": "`nninfer ! nndecode ! nntrack ! nninfer inference-region=roi-list ! nndecode`",
             "onnxruntime": "OpenCV and ONNX Runtime"}
    what = ("car-detection.mp4 (377 frames of 768x432), YOLOX-Nano, every object of every frame by MobileNet v2; the peer "
            "tracks with OpenCV's Kalman filter.")
    part, row = "chain", CHAIN

    def behind(self, a):
        classifier = os.path.join(a.data, CLASSIFIER)
        return ("nndecode threshold=0.3 iou-threshold=0.45 ! nntrack ! "
                f"nninfer model={classifier} inference-region=roi-list mean=<123.675,116.28,103.53> scale=<58.395,57.12,57.375> "
                "resize=stretch color=rgb ! nndecode threshold=0"), [classifier]
