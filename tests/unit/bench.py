#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""axon-bench runs any model as it is, and shows where its time goes. usage: bench.py AXON_BENCH"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as lacks:
    print(f"{lacks} (Debian: python3-numpy, python3-onnx)")
    sys.exit(77)

F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
failures = 0


def check(sentence, ok, seen=""):
    global failures
    print(f"{'ok' if ok else 'not ok'} - {sentence}{'' if ok else f': {seen}'}")
    failures += not ok


def save(path, inputs, nodes, output, constants=()):
    graph = helper.make_graph(
        [helper.make_node(op, i, [o], **a) for op, i, o, a in nodes], "model",
        [helper.make_tensor_value_info(name, dtype, shape) for name, dtype, shape in inputs],
        [helper.make_tensor_value_info(output, TensorProto.UNDEFINED, None)],
        [numpy_helper.from_array(np.array(v), k) for k, v in constants])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path)


def bench(path, *options):
    out = subprocess.run([sys.argv[1], "--niter", "2", "--config", "INFERENCE_NUM_THREADS=1", *options, path],
                         capture_output=True, text=True, check=False)
    return out.stdout if out.returncode == 0 else f"failed: {out.stderr}"


def chosen(path, *options):
    out = bench(path, "--json", *options)
    return [i["shape"] for i in json.loads(out)["inputs"]] if out.startswith("{") else out


def weights(*shape):
    return np.random.default_rng(1).random(shape, np.float32)


def sizes(tmp):
    path = os.path.join(tmp, "model.onnx")
    conv = [("Conv", ["x", "w"], "y", {})]
    save(path, [("x", F, ["n", 3, "h", "w"])], conv, "y", [("w", weights(8, 3, 3, 3))])
    check("a picture of free size gets batch 1 and 224x224", chosen(path) == [[1, 3, 224, 224]], chosen(path))
    check("a shape that is given is taken", chosen(path, "--shape", "2,3,16,24") == [[2, 3, 16, 24]])
    check("the choice is said", "chosen" in bench(path), bench(path))
    save(path, [("x", F, ["n", "c", "h", "w"])], conv, "y", [("w", weights(8, 3, 3, 3))])
    check("free channels are tried", chosen(path) == [[1, 3, 224, 224]], chosen(path))
    save(path, [("x", F, ["n", 3, "h", "w"])], [("Reshape", ["x", "s"], "y", {})], "y",
         [("s", np.array([3, 320, 320]))])
    check("the size is one that the graph takes", chosen(path) == [[1, 3, 320, 320]], chosen(path))
    save(path, [("x", F, ["n", "a", "b"])], [("Reshape", ["x", "s"], "y", {})], "y", [("s", np.array([17, 15]))])
    found = chosen(path)
    check("sizes that differ are found", isinstance(found, list) and np.prod(found) == 255, found)
    save(path, [("x", F, [1, 4])], [("Reshape", ["x", "s"], "y", {})], "y", [("s", np.array([3, 5]))])
    check("a model that takes no size says why", "failed" in bench(path), bench(path))


def values(tmp):
    path = os.path.join(tmp, "model.onnx")
    save(path, [("ids", I64, [1, "length"]), ("attention_mask", I64, [1, "length"])],
         [("Gather", ["words", "ids"], "g", {}), ("Mul", ["ids", "attention_mask"], "m", {}),
          ("Cast", ["m"], "f", {"to": F}), ("ReduceSum", ["g", "last"], "s", {"keepdims": 0}), ("Add", ["s", "f"], "y", {})],
         "y", [("words", weights(120, 4)), ("last", np.array([2]))])
    check("rows of words are 128 long", chosen(path) == [[1, 128], [1, 128]], chosen(path))
    check("a mask is ones", "attention_mask\": i64[1,128]" in bench(path) and "values 1\n" in bench(path), bench(path))
    save(path, [("ids", I64, [4])], [("Gather", ["words", "ids"], "y", {})], "y", [("words", weights(2, 4))])
    check("numbers that are out of range are replaced", chosen(path) == [[4]], chosen(path))
    save(path, [("x", BOOL, [2, 3])], [("Not", ["x"], "y", {})], "y")
    check("truth values are inputs, too", "true or false" in bench(path), bench(path))
    folder = os.path.join(tmp, "test_data_set_0")
    os.mkdir(folder)
    save(path, [("x", F, ["n", 4])], [("Relu", ["x"], "y", {})], "y")
    with open(os.path.join(folder, "input_0.pb"), "wb") as f:
        f.write(numpy_helper.from_array(weights(7, 4)).SerializeToString())
    check("test_data_set_0 beside the model says the shape", chosen(path) == [[7, 4]], chosen(path))


def profile(tmp):
    path = os.path.join(tmp, "net.onnx")
    save(path, [("x", F, [1, 16, 64, 64])], [("Conv", ["x", "w"], "c", {}), ("LRN", ["c"], "y", {"size": 5})], "y",
         [("w", weights(16, 16, 3, 3))])
    if "without cairo" in bench(path, "--chart", os.path.join(tmp, "none.svg")):
        print("skip: charts (built without cairo)")
        return
    files = [os.path.join(tmp, name) for name in ("graph.dot", "chart.svg", "chart.png")]
    out = bench(path, "--profile", "--exec-graph", files[0], "--chart", files[1])
    check("a profile has operations, bytes and the part of the roofline", "GOP/s" in out and "roofline" in out, out)
    check("and the peaks", "peaks" in out, out)
    with open(files[0], encoding="utf-8") as f:
        dot = f.read()
    check("the drawn graph tells the same", "of the roofline" in dot and "label=\"peaks" in dot, dot)
    steps = json.loads(bench(path, "--profile", "--json", "--chart", files[2]))["steps"]
    conv = next(s for s in steps if s["type"] == "Conv")
    check("the operations of a convolution are counted", conv["operations"] == 2 * 16 * 62 * 62 * 144, conv)
    with open(files[1], "rb") as svg, open(files[2], "rb") as png:
        check("a chart is drawn as SVG and as PNG", b"<svg" in svg.read() and png.read(4) == b"\x89PNG")
    # Symptom: a graph whose shapes follow from data had an empty profile.
    save(path, [("x", F, [4, 8])], [("Relu", ["x"], "r", {}), ("NonZero", ["r"], "n", {}), ("Cast", ["n"], "y", {"to": F})],
         "y")
    steps = json.loads(bench(path, "--profile", "--json"))["steps"]
    check("what runs between shapes that are known is profiled, too", {s["type"] for s in steps} >= {"NonZero", "Cast"}, steps)


with tempfile.TemporaryDirectory() as folder_of_tests:
    sizes(folder_of_tests)
    values(folder_of_tests)
    profile(folder_of_tests)
sys.exit(failures > 0)
