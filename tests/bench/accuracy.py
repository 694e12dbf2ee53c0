# SPDX-License-Identifier: LGPL-2.1-or-later
"""8-bit models: who gets the integers right. Device TEMPLATE without passes gives the exact ones."""
import os
import tempfile

import models
import numpy as np
import onnx
from engines import TITLES
from onnx import TensorProto, helper, numpy_helper

ENGINES = ["axon", "onnxruntime", "onnxruntime exact", "openvino"]


def adversary(form, source):
    """A 3x3 convolution of 0 and 255 (or -128 and 127) by 127 and -128, which no pair of products in 16 bits holds."""
    rand, unsigned = np.random.default_rng(7), source == "u8"
    low, high, dtype = (0, 255, np.uint8) if unsigned else (-128, 127, np.int8)
    weights = rand.choice(np.array([127, -128, 127, 126], np.int8), (32, 32, 3, 3))
    weights[1::2] = rand.integers(-128, 128, weights[1::2].shape)
    constants = {"x_scale": np.float32(0.02), "x_zero": dtype(128 if unsigned else 0), "w": weights,
                 "w_scale": np.float32(0.003), "w_zero": np.int8(0), "y_scale": np.float32(3), "y_zero": dtype(low + 128)}
    x = rand.choice(np.array([high, high, low], dtype), (1, 32, 28, 28))

    def node(op, inputs, output, **attrs):
        return helper.make_node(op, inputs, [output], **attrs)
    pads, out = {"pads": [1, 1, 1, 1]}, TensorProto.INT8 if dtype is np.int8 else TensorProto.UINT8
    nodes = {"QLinearConv": [node("QLinearConv", ["x", *constants], "y", **pads)],
             "QDQ Conv": [node("DequantizeLinear", ["x", "x_scale", "x_zero"], "xf"),
                          node("DequantizeLinear", ["w", "w_scale", "w_zero"], "wf"),
                          node("Conv", ["xf", "wf"], "yf", **pads), node("QuantizeLinear", ["yf", "y_scale", "y_zero"], "y")],
             "ConvInteger": [node("ConvInteger", ["x", "w", "x_zero", "w_zero"], "y", **pads)]}[form]
    used = {name for n in nodes for name in n.input}
    graph = helper.make_graph(
        nodes, form, [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.INT32 if form == "ConvInteger" else out, [1, 32, 28, 28])],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items() if k in used])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), x


def adversaries(folder):
    for form in ("QLinearConv", "QDQ Conv", "ConvInteger"):
        for source in ("u8", "s8"):
            place = os.path.join(folder, f"{form} {source} by s8, full range")
            os.makedirs(os.path.join(place, "test_data_set_0"))
            model, x = adversary(form, source)
            onnx.save(model, os.path.join(place, "model.onnx"))
            with open(os.path.join(place, "test_data_set_0/input_0.pb"), "wb") as f:
                f.write(numpy_helper.from_array(x).SerializeToString())
            yield os.path.join(place, "model.onnx")


def difference(expected, got):
    """Largest difference, and how many elements are off by more than 1 % of the largest number."""
    if got is None:
        return "-"
    worst, off, n = 0, 0, 0
    for e, g in zip(expected, got):
        d = np.abs(e.astype(np.float64) - g.astype(np.float64))
        worst, n = max(worst, d.max(initial=0)), n + d.size
        off += int((d > 0.01 * np.abs(e.astype(np.float64)).max(initial=0)).sum())
    return f"{worst:.4g} ({100 * off / max(n, 1):.1f} %)"


class Accuracy:
    title = "8 bits: how far from exact integers"

    def __init__(self, isa):
        self.name = "accuracy" + (f"-{isa}" if isa else "")

    def measure(self, a):
        with tempfile.TemporaryDirectory() as tmp:
            for path in [*adversaries(tmp), *a.choose(models.quantised(a.data))]:
                name = models.name_of(path)
                a.results.forget(self.name, name)
                exact = a.engines.results("axon", path, name, "TEMPLATE", ["DISABLE_TRANSFORMATIONS=YES"])
                for engine in ENGINES:
                    got = a.engines.results(engine, path, name)
                    a.results.add(self.name, name, engine, {"difference": difference(exact, got)})
                print(f"{self.name}: {name}", flush=True)

    def report(self, a):
        lines = ["| model | " + " | ".join(TITLES[e] for e in ENGINES) + " |", "|---" * (len(ENGINES) + 1) + "|"]
        for row, found in a.results.all.get(self.name, {}).items():
            lines.append(f"| {row} | " + " | ".join(found[e][-1]["difference"] for e in ENGINES) + " |")
        return ["Largest difference, and the share of results that is off by more than 1 % of the largest.", "", *lines]
