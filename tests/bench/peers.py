#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One model on one engine, each time in a process of its own: device CPU of Axon, ONNX Runtime as it comes and
with session.x64quantprecision=1, OpenVINO. Any number of inputs of any type; where the model leaves dimensions
free, and for its values, test_data_set_0 beside it, or else 1 and random numbers.

Bench only: needs the Python packages onnx, onnxruntime and numpy, and openvino where that is wanted.
usage, by this module itself: peers.py ENGINE MODEL THREADS SECONDS [SAVE.npz]"""
import glob
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import helper, numpy_helper

PEERS = {"onnxruntime": {}, "onnxruntime exact": {"session.x64quantprecision": "1"}, "openvino": {}}
# What a level of ours is called by oneDNN, which OpenVINO contains.
ONEDNN_ISA = {"SSE41": "SSE41", "AVX2": "AVX2", "AVX2_VNNI": "AVX2_VNNI", "AVX512": "AVX512_CORE",
              "AVX512_VNNI": "AVX512_CORE_VNNI"}


def graph_inputs(path):
    graph = onnx.load(path, load_external_data=False).graph
    constants = {i.name for i in graph.initializer}
    return [i for i in graph.input if i.name not in constants]


def inputs_of(path):
    """name: array, in the graph's order."""
    found, rand = {}, np.random.default_rng(1)
    for i, value in enumerate(graph_inputs(path)):
        data = os.path.join(os.path.dirname(path), "test_data_set_0", f"input_{i}.pb")
        if os.path.exists(data):
            found[value.name] = numpy_helper.to_array(onnx.load_tensor(data))
            continue
        tensor = value.type.tensor_type
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        shape = [d.dim_value or 1 for d in tensor.shape.dim]
        found[value.name] = (rand.random(shape).astype(dtype) if np.issubdtype(dtype, np.floating) else
                             rand.integers(0, 127, shape).astype(dtype))
    return found


def max_rss():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def open_onnxruntime(engine, path, threads, inputs):
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
    base, begin = max_rss(), time.perf_counter()
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    for key, value in PEERS[engine].items():
        options.add_session_config_entry(key, value)
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return base, begin, lambda: session.run(None, inputs)


def open_openvino(_, path, threads, inputs):
    import openvino as ov
    base, begin = max_rss(), time.perf_counter()
    core = ov.Core()
    model = core.read_model(path)
    if model.is_dynamic():
        model.reshape({name: array.shape for name, array in inputs.items()})
    # f32 as everybody else: its default is bf16 where the processor has that.
    compiled = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
                                                 "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()

    def run():
        request.infer(inputs)
        return [request.get_output_tensor(i).data for i in range(len(compiled.outputs))]
    return base, begin, run


def child(engine, path, threads, seconds, save=None):
    inputs = inputs_of(path)
    opener = open_openvino if engine == "openvino" else open_onnxruntime
    base, begin, run = opener(engine, path, int(threads), inputs)
    load, times = (time.perf_counter() - begin) * 1e3, []
    if save:
        np.savez(save, *[np.array(y) for y in run()])
        return
    for _ in range(5):
        run()
    end = time.perf_counter() + float(seconds)
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        times.append((time.perf_counter() - begin) * 1e3)
    times.sort()
    print(json.dumps({"median_ms": times[len(times) // 2], "load_ms": load, "rss_kb": max_rss() - base}))


def environment(isa, tool=None):
    """Caps a @tool of Axon, or else what OpenVINO contains; ONNX Runtime has no such switch. A tool of a build tree
    finds its plugins."""
    env = dict(os.environ)
    if isa:
        env.update({"AXON_CPU_ISA": isa} if tool else
                   {"ONEDNN_MAX_CPU_ISA": ONEDNN_ISA[isa], "DNNL_MAX_CPU_ISA": ONEDNN_ISA[isa]})
    plugins = glob.glob(os.path.join(os.path.dirname(tool), "../../plugins/*/libaxon-*.so")) if tool else []
    if plugins and "AXON_PLUGIN_PATH" not in env:
        env["AXON_PLUGIN_PATH"] = ":".join(sorted({os.path.abspath(os.path.dirname(p)) for p in plugins}))
    return env


def measure_axon(bench, path, threads, seconds, isa=None):
    shapes = []
    for value, array in zip(graph_inputs(path), inputs_of(path).values()):
        free = any(not d.dim_value for d in value.type.tensor_type.shape.dim)
        shapes += ["--shape", ",".join(map(str, array.shape))] if free else []
    out = subprocess.run([bench, "--json", "--time", str(seconds), "--config", f"INFERENCE_NUM_THREADS={threads}",
                          *shapes, path], capture_output=True, text=True, check=True, env=environment(isa, bench))
    r = json.loads(out.stdout)
    return {"median_ms": r["median_ms"], "load_ms": r["load_ms"] + r["compile_ms"], "rss_kb": r["max_rss_kb"]}


def measure_peer(engine, path, threads, seconds, isa=None):
    """None where the engine is not installed or does not take the model."""
    out = subprocess.run([sys.executable, __file__, engine, path, str(threads), str(seconds)], capture_output=True,
                         text=True, check=False, env=environment(isa))
    return json.loads(out.stdout.strip().splitlines()[-1]) if out.returncode == 0 else None


def results_of_axon(run, path, device, config=(), isa=None):
    with tempfile.TemporaryDirectory() as tmp:
        files = []
        for i, (name, array) in enumerate(inputs_of(path).items()):
            np.save(f"{tmp}/in{i}.npy", array)
            files += ["--input", f"{name}={tmp}/in{i}.npy"]
        os.mkdir(f"{tmp}/out")
        subprocess.run([run, "--device", device, *[a for c in config for a in ("--config", c)], path, *files, "--save",
                        f"{tmp}/out"], check=True, stdout=subprocess.DEVNULL, env=environment(isa, run))
        return [np.load(f"{tmp}/out/output_{i}.npy") for i in range(len(os.listdir(f"{tmp}/out")))]


def results_of_peer(engine, path, isa=None):
    with tempfile.TemporaryDirectory() as tmp:
        done = subprocess.run([sys.executable, __file__, engine, path, "1", "0", f"{tmp}/out.npz"], check=False,
                              capture_output=True, env=environment(isa))
        if done.returncode:
            return None
        with np.load(f"{tmp}/out.npz") as arrays:
            return [arrays[name] for name in arrays.files]


if __name__ == "__main__":
    child(*sys.argv[1:])
