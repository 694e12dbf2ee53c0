#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""8-bit models: how fast, against their twins in floats, too, and who gets the integers right. Axon, ONNX Runtime as
it comes and with session.x64quantprecision=1, and OpenVINO take turns in one run. With --isa NAME, Axon and OpenVINO
do as if the processor had no more than that level.

Bench only: needs what peers.py needs. Prints Markdown; asserts nothing.
usage: int8.py BUILD [MODEL.onnx...] [--data DIR] [--isa NAME] [--threads 1,2] [--rounds N] [--seconds S] [--only PART]"""
import argparse
import glob
import os
import statistics
import tempfile

import numpy as np
import onnx
import peers
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
QUANTISED = {"DequantizeLinear", "QLinearConv", "ConvInteger"}
TWINS = {"mobilenetv2-1.0-224-qdq-u8s8": "mobilenetv2-1.0-224-fp32", "ultraface-rfb-320-qdq-s8": "ultraface-rfb-320",
         "mobilenetv2-1.0-224-qop-u8u8": "mobilenetv2-1.0-224-fp32", "fastestdet-352-qop-u8s8": "fastestdet-352"}
TITLES = {"axon": "Axon", "onnxruntime": "ONNX Runtime", "onnxruntime exact": "ONNX Runtime, exact", "openvino": "OpenVINO"}


def tool(a, name):
    return os.path.join(os.path.abspath(a.build), "lib/tools", name)


def name_of(path):
    return os.path.basename(os.path.dirname(path)) if path.endswith("/model.onnx") else os.path.basename(path)[:-5]


def quantised_models(data):
    for path in sorted(glob.glob(os.path.join(data, "models/*/model.onnx")) +
                       glob.glob(os.path.join(data, "families/*/model.onnx"))):
        if any(node.op_type in QUANTISED for node in onnx.load(path, load_external_data=False).graph.node):
            yield path


def measure(a, path, threads):
    """engine: median of the rounds' medians, or None"""
    times = {engine: [] for engine in TITLES}
    for _ in range(a.rounds):
        for engine, found in times.items():
            r = (peers.measure_axon(tool(a, "axon-bench"), path, threads, a.seconds, a.isa) if engine == "axon" else
                 peers.measure_peer(engine, path, threads, a.seconds, a.isa))
            found.extend([r["median_ms"]] if r else [])
    return {engine: statistics.median(found) if found else None for engine, found in times.items()}


def cell(value, form="{:.2f}"):
    return "-" if value is None else form.format(value)


def ratio(x, y):
    return x / y if x is not None and y is not None else None


def speed(a, models):
    print("| model | threads | " + " | ".join(f"{t} ms" for t in TITLES.values()) + " | "
          + " | ".join(f"Axon / {t}" for e, t in TITLES.items() if e != "axon") + " |")
    print("|---" * (2 * len(TITLES) + 1) + "|")
    found = {}
    for path in models:
        for threads in map(int, a.threads.split(",")):
            m = found[path, threads] = measure(a, path, threads)
            print(f"| {name_of(path)} | {threads} | " + " | ".join(cell(m[e]) for e in TITLES) + " | "
                  + " | ".join(cell(ratio(m["axon"], m[e])) for e in TITLES if e != "axon") + " |", flush=True)
    return found


def twins(a, found):
    """Milliseconds in 8 bits over milliseconds in floats."""
    print("\n| model | threads | " + " | ".join(f"{t}: int8 / f32 ms" for t in TITLES.values()) + " |")
    print("|---" * (len(TITLES) + 2) + "|")
    floats = {}
    for (path, threads), m in found.items():
        twin = TWINS.get(name_of(path))
        other = os.path.join(a.data, "models", twin or "", "model.onnx")
        if twin is None or not os.path.exists(other):
            continue
        if (other, threads) not in floats:
            floats[other, threads] = measure(a, other, threads)
        f = floats[other, threads]
        print(f"| {name_of(path)} | {threads} | "
              + " | ".join(f"{cell(ratio(m[e], f[e]))} ({cell(m[e])} / {cell(f[e])})" for e in TITLES) + " |", flush=True)


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


def accuracy(a, models):
    print("\n| largest difference from exact integers (share off by more than 1 % of the largest) | "
          + " | ".join(TITLES.values()) + " |\n|---" + "|---" * len(TITLES) + "|")
    with tempfile.TemporaryDirectory() as tmp:
        for path in [*adversaries(tmp), *models]:
            exact = peers.results_of_axon(tool(a, "axon-run"), path, "TEMPLATE", ["DISABLE_TRANSFORMATIONS=YES"])
            row = [peers.results_of_axon(tool(a, "axon-run"), path, "CPU", isa=a.isa) if e == "axon" else
                   peers.results_of_peer(e, path, a.isa) for e in TITLES]
            print(f"| {name_of(path)} | " + " | ".join(difference(exact, got) for got in row) + " |", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("models", nargs="*")
    p.add_argument("--data", default=os.path.join(HERE, "../../../shared"))
    p.add_argument("--isa", choices=list(peers.ONEDNN_ISA))
    p.add_argument("--threads", default="1,2")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=1.5)
    p.add_argument("--only", choices=["speed", "accuracy"])
    a = p.parse_args()
    models = a.models or list(quantised_models(a.data))
    if a.isa:
        print(f"Axon and OpenVINO's oneDNN capped at {a.isa}; ONNX Runtime cannot be capped and uses all that the"
              " processor has.\n")
    if a.only != "accuracy":
        twins(a, speed(a, models))
    if a.only != "speed":
        accuracy(a, models)


main()
