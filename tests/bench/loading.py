# SPDX-License-Identifier: LGPL-2.1-or-later
"""From a file to a model that runs, without a cache and from it; and memory."""
import contextlib
import os
import shutil
import subprocess
import tempfile
import time

import engines
import models
import speed
import tables

KINDS = ("axon", "axon store", "axon cache", "axon weightless", "axon file", "onnxruntime", "openvino", "openvino cache")
TITLES = ("ONNX", "store", "cache", "weightless", "`.axon`", "ONNX Runtime", "OpenVINO", "its cache")


class Loading:
    title = "From file to compiled model, and memory"

    def __init__(self, isa):
        self.isa = isa
        self.name = "load" + (f"-{isa}" if isa else "")

    def turn(self, a, path, folder):
        """kind: figures, each in a process of its own."""
        name, file = models.name_of(path), os.path.join(folder, "model.axon")
        full, light, other = (os.path.join(folder, n) for n in ("full", "light", "openvino"))
        subprocess.run([a.engines.tool("axon-compile"), "--output", file, path], check=True, capture_output=True,
                       env=a.engines.environment(True))

        def axon(*config, model=path):
            extra = ["--niter", "1", *[x for pair in config for x in ("--config", pair)]]
            return a.engines.axon(model, name, 1, 0, extra=extra)
        yield "axon", axon()
        yield "axon store", axon(f"CACHE_DIR={full}")
        yield "axon cache", axon(f"CACHE_DIR={full}")
        axon(f"CACHE_DIR={light}", "CACHE_MODE=OPTIMIZE_SIZE")
        yield "axon weightless", axon(f"CACHE_DIR={light}", "CACHE_MODE=OPTIMIZE_SIZE")
        yield "axon file", axon(model=file)
        yield "onnxruntime", a.engines.peer("onnxruntime", path, name, 1, 0)
        yield "openvino", a.engines.peer("openvino", path, name, 1, 0)
        a.engines.peer("openvino", path, name, 1, 0, cache=other)
        yield "openvino cache", a.engines.peer("openvino", path, name, 1, 0, cache=other)

    def measure(self, a):
        for path in a.choose([p for p in models.floats(a.data, a.work) + models.quantised(a.data)
                              if a.models or models.name_of(p) in speed.FEW or "qdq" in p]):
            a.results.forget(self.name, models.name_of(path))
            for _ in range(a.rounds):
                folder = tempfile.mkdtemp(prefix="axon-load-")
                for kind, r in self.turn(a, path, folder):
                    a.results.add(self.name, models.name_of(path), kind,
                                  r and {k: v for k, v in r.items() if isinstance(v, (int, float))})
                shutil.rmtree(folder)
            print(f"{self.name}: {models.name_of(path)}", flush=True)
        a.results.add(self.name + "-quickstart", "quickstart", "axon", self.quickstart(a))

    def quickstart(self, a):
        """Peak memory of the README's pipeline."""
        with tempfile.TemporaryDirectory() as out:
            command = (
                "gst-launch-1.0 -q videotestsrc num-buffers=60 pattern=ball ! "
                "video/x-raw,format=NV12,width=320,height=240,framerate=30/1 ! nninfer "
                f"model={os.path.join(os.path.dirname(__file__), '../../pipelines/quickstart/ball.onnx')} device=CPU ! "
                f"nndecode ! nnpublish location={out}/results.jsonl ! nnoverlay ! videoconvert ! pngenc ! "
                f"multifilesink location={out}/frame%02d.png")
            child, peak = subprocess.Popen(command.split(), env=a.engines.environment(True)), 0
            while child.poll() is None:  # rusage would count what this Python had when it started it
                with contextlib.suppress(OSError, StopIteration):
                    peak = max(peak, engines.memory(child.pid, "VmHWM"))
                time.sleep(0.01)
            return None if child.returncode else {"rss_kb": peak}

    def report(self, a):
        rows, cold, cached = a.results.rows(self.name), {}, {}
        lines = ["| model | " + " | ".join(TITLES) + " |", "|---" * (len(TITLES) + 1) + "|"]
        for row in rows:
            ms = {k: a.results.median(self.name, row, k, "load_ms") for k in KINDS}
            lines.append(f"| {row} | " + " | ".join(tables.cell(ms[k]) for k in KINDS) + " |")
            peers = [ms["onnxruntime"], ms["openvino"]]
            for found, kind in ((cold, "axon"), (cached, "axon cache")):
                value = tables.ratio(ms[kind], peers)
                found.update({row + "|1": value} if value else {})
        text = ["Milliseconds of loading and compiling, one thread, each in a fresh process.", ""]
        for title, found in (("To the better of ONNX Runtime and OpenVINO, cold", cold), ("From the cache", cached)):
            text += [f"{title}: {line}" for line in (tables.summary(found, 1.0) if found else [])]
        first = a.results.median(self.name, "ultraface-rfb-320", "axon cache", "ready_ms")
        text.append(f"First result of UltraFace from the cache: **{tables.cell(first)} ms**.")
        return [*text, "", *lines, "", *self.memory(a)]

    def memory(self, a):
        """Peaks while inferring, which the part latency has measured."""
        latency = "latency" + (f"-{self.isa}" if self.isa else "")
        peers = ["onnxruntime", "openvino"]
        lines, found = tables.table(a.results, latency, ["axon", *peers], "rss_kb", [("Axon / better", peers, "rss_kb")])
        quickstart = a.results.median(self.name + "-quickstart", "quickstart", "axon", "rss_kb")
        text = ["Peak memory in kB that reading, compiling and inferring add to that of the process before. "
                f"The quickstart takes {tables.cell(quickstart and quickstart / 1024)} MB."]
        return [*text, "", *[line for v in found.values() if v for line in tables.summary(v, 0.9)], "", *lines]
