# SPDX-License-Identifier: LGPL-2.1-or-later
"""Engines side by side, turn by turn: a model back to back, beside busy processes, and every 33 ms."""
import itertools

import models
import tables

# What stands for all where a part would take hours.
FEW = ["mobilenetv2-1.0-224-fp32", "ultraface-rfb-320", "yolox-nano-416", "fastestdet-352", "resnet50"]


def take_turns(a, name, engines, paths, threads, **how):
    """Every engine once in each round, for each model and number of threads."""
    for path, n in itertools.product(paths, threads):
        row = f"{models.name_of(path)}|{n}"
        a.results.forget(name, row)
        for _ in range(a.rounds):
            for engine in engines:
                r = a.engines.measure(engine, path, models.name_of(path), n, a.seconds, **how)
                a.results.add(name, row, engine, r and {k: v for k, v in r.items() if isinstance(v, (int, float))})
        figures = ", ".join(f"{e} {tables.cell(a.results.median(name, row, e, 'median_ms'))}" for e in engines)
        print(f"{name}: {row.replace('|', ', threads ')}: {figures}", flush=True)


class Latency:
    """One model, back to back."""
    limit = 1.15

    def __init__(self, isa):
        self.isa, self.name = isa, "latency" + (f"-{isa}" if isa else "")
        self.engines = ["axon", "onnxruntime", "openvino"]
        self.title = f"Floats, capped at {isa}" if isa else "Floats"
        self.note = "Milliseconds; the ratio is that to the better of both."
        self.yardsticks = [("Axon / better", self.engines[1:], "median_ms")]

    def measure(self, a):
        take_turns(a, self.name, self.engines, a.choose(models.floats(a.data, a.work)), a.threads)

    def report(self, a):
        lines, found = tables.table(a.results, self.name, self.engines, "median_ms", self.yardsticks)
        said = [line for title, values in found.items() if values
                for line in [f"{title}:", *tables.summary(values, self.limit)]]
        for title, peers, what in self.yardsticks:  # whatever else the machine did meanwhile
            least = tables.ratios(self.name, a.results.least, peers, what, a.results.rows(self.name))
            if least:
                said += ["", f"{title}, of each its best round:", *tables.summary(least, self.limit)]
        return [self.note, "", *said, "", *lines]


class Int8(Latency):
    """8-bit models, and the same networks in floats."""
    limit = 1.1

    def __init__(self, isa):
        super().__init__(isa)
        self.name = "int8" + (f"-{isa}" if isa else "")
        self.title = f"8 bits, capped at {isa}" if isa else "8 bits"
        self.engines = ["axon", "onnxruntime", "onnxruntime exact", "openvino"]
        # OpenVINO's pairs of products saturate where there is no VNNI.
        exact = ["onnxruntime exact"] if isa and "VNNI" not in isa else ["onnxruntime exact", "openvino"]
        self.yardsticks = [("Axon / better exact one", exact, "median_ms"),
                           ("Axon / better default", ["onnxruntime", "openvino"], "median_ms")]
        self.note = "Milliseconds. ONNX Runtime, exact: session.x64quantprecision=1."

    def measure(self, a):
        take_turns(a, self.name, self.engines, a.choose(models.quantised(a.data)), a.threads)


class Busy(Latency):
    """Two processes that do nothing but compute beside it, as a decoder and a converter do."""
    limit = 1.1

    def __init__(self, isa):
        super().__init__(isa)
        self.name = "busy" + (f"-{isa}" if isa else "")
        self.title = "Beside two busy processes"
        self.engines = ["axon", "onnxruntime passive", "onnxruntime"]
        self.yardsticks = [("Axon / no spinning", ["onnxruntime passive"], "p95_ms")]
        self.note = ("The 95th percentile in milliseconds, 2 threads on 2 processors that two other processes want, too, "
                     "after two seconds of the same.")

    def measure(self, a):
        take_turns(a, self.name, self.engines, a.choose([p for p in models.floats(a.data, a.work)
                                                        if models.name_of(p) in FEW]), [2], busy=2, warmup=2)

    def report(self, a):
        lines, found = tables.table(a.results, self.name, self.engines, "p95_ms", self.yardsticks)
        return [self.note, "", *[line for v in found.values() if v for line in tables.summary(v, self.limit)], "", *lines]


class Paced(Busy):
    """A frame every 33 ms, as from a camera."""

    def __init__(self, isa):
        super().__init__(isa)
        self.name = "paced" + (f"-{isa}" if isa else "")
        self.title = "A frame every 33 ms"
        self.engines = ["axon", "onnxruntime", "onnxruntime passive", "openvino"]
        self.fields = [("median_ms", "Median, milliseconds", [("Axon / better", self.engines[1:], "median_ms")], 1.1),
                       ("p95_ms", "95th percentile, milliseconds", [("Axon / better", self.engines[1:], "p95_ms")], 1.1),
                       ("cpu_ms", "Processor time per frame, milliseconds",
                        [("Axon / ONNX Runtime", ["onnxruntime"], "cpu_ms")], 0.4)]

    def measure(self, a):
        paths = [p for p in models.floats(a.data, a.work) if models.name_of(p) in FEW]
        # Networks that need more than the 33 ms on one thread say nothing here.
        take_turns(a, self.name, self.engines, a.choose([p for p in paths if "resnet" not in p]), [2], interval=33)

    def report(self, a):
        text = []
        for field, title, yardsticks, limit in self.fields:
            lines, found = tables.table(a.results, self.name, self.engines, field, yardsticks)
            text += [f"{title}:", "", *[s for v in found.values() if v for s in tables.summary(v, limit)], "", *lines, ""]
        return text[:-1]
