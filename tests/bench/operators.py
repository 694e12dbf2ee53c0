#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Operators one by one: device CPU beside the reference kernels (device TEMPLATE) and ONNX Runtime,
interleaved in one run, one thread each.

Bench only: needs the Python packages onnx, onnxruntime and numpy. Reports medians; asserts nothing.
usage: operators.py AXON_BENCH [--seconds S]"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

F, B = TensorProto.FLOAT, TensorProto.BOOL
IMAGE = [1, 64, 56, 56]
TOKENS = [1, 197, 768]


def constant(name, value):
    return numpy_helper.from_array(np.asarray(value), name)


def ones(*shape):
    return np.ones(shape, np.float32)


# name, shape of x, constants behind it, attributes, type of the result
CASES = [
    ("Add", IMAGE, [ones(64, 1, 1)], {}, F),
    ("Div", TOKENS, [ones(1, 197, 1)], {}, F),
    ("Pow", TOKENS, [np.float32(2)], {}, F),
    ("Where", TOKENS, None, {}, F),
    ("Greater", IMAGE, [np.float32(0.5)], {}, B),
    ("Erf", TOKENS, [], {}, F),
    ("Gelu", TOKENS, [], {}, F),
    ("Neg", IMAGE, [], {}, F),
    ("Floor", IMAGE, [], {}, F),
    ("Softplus", IMAGE, [], {}, F),
    ("Softmax", TOKENS, [], {"axis": -1}, F),
    ("LogSoftmax", TOKENS, [], {"axis": -1}, F),
    ("LayerNormalization", TOKENS, [ones(768), ones(768)], {"axis": -1}, F),
    ("InstanceNormalization", IMAGE, [ones(64), ones(64)], {}, F),
    ("GroupNormalization", IMAGE, [ones(64), ones(64)], {"num_groups": 8}, F),
    ("ReduceMean", IMAGE, [np.array([2, 3])], {}, F),
    ("Transpose", TOKENS, [], {"perm": [0, 2, 1]}, F),
    ("Slice", IMAGE, [np.array([8, 8]), np.array([48, 48]), np.array([2, 3])], {}, F),
    ("Concat", IMAGE, [ones(*IMAGE)], {"axis": 1}, F),
    ("Resize", IMAGE, [np.array([], np.float32), np.array([1, 1, 2, 2], np.float32)],
     {"mode": "linear"}, F),
    ("MatMul", TOKENS, [ones(768, 768)], {}, F),
    ("TopK", [1, 8400], [np.array([100])], {}, F),
]


def build(case, path):
    name, shape, constants, attributes, result = case
    nodes, initializers = [], []
    if name == "Where":
        initializers = [constant("half", np.float32(0.5)), constant("zero", np.float32(0))]
        nodes = [helper.make_node("Greater", ["x", "half"], ["c"]),
                 helper.make_node("Where", ["c", "x", "zero"], ["y"])]
    else:
        initializers = [constant(f"c{i}", value) for i, value in enumerate(constants)]
        outputs = ["y", "i"] if name == "TopK" else ["y"]
        nodes = [helper.make_node(name, ["x"] + [c.name for c in initializers], outputs, **attributes)]
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", F, shape)],
                              [helper.make_tensor_value_info("y", result, None)], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)


def axon(bench, path, device, seconds):
    config = ["--config", "INFERENCE_NUM_THREADS=1"] if device == "CPU" else []
    r = subprocess.run([bench, "--json", "--time", str(seconds), "--device", device, *config, path],
                       capture_output=True, text=True)
    return json.loads(r.stdout)["median_ms"] if r.returncode == 0 else float("nan")


def peer(path, seconds):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    x = np.random.rand(*session.get_inputs()[0].shape).astype(np.float32)
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        t = time.perf_counter()
        session.run(["y"], {"x": x})
        times.append((time.perf_counter() - t) * 1e3)
    return statistics.median(times)


parser = argparse.ArgumentParser()
parser.add_argument("bench")
parser.add_argument("--seconds", type=float, default=0.4)
args = parser.parse_args()
print("| operator | shape | CPU ms | reference ms | ONNX Runtime ms | reference / CPU | CPU / ONNX Runtime |")
print("|---|---|---|---|---|---|---|")
with tempfile.TemporaryDirectory() as folder:
    for case in CASES:
        path = str(pathlib.Path(folder) / "model.onnx")
        build(case, path)
        rounds = [(axon(args.bench, path, "CPU", args.seconds), axon(args.bench, path, "TEMPLATE", args.seconds),
                   peer(path, args.seconds)) for _ in range(3)]
        cpu, reference, other = (statistics.median(column) for column in zip(*rounds))
        print(f"| {case[0]} | {'x'.join(map(str, case[1]))} | {cpu:.3f} | {reference:.1f} | {other:.3f} "
              f"| {reference / cpu:.0f} | {cpu / other:.2f} |", flush=True)
