# SPDX-License-Identifier: LGPL-2.1-or-later
# Called by remote.sh. Device REMOTE before the tests' server, in rounds that alternate between all that is compared;
# figures are medians over the rounds.   usage: remote.py BUILD MODEL.onnx
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import tritonclient.http
from onnx import TensorProto, helper

BUILD, MODEL = sys.argv[1:]
SHAPES = {"150 KB": (1, 3, 224, 224), "5 MB": (1, 3, 1080, 1620)}
BYTES = '"binary_tensor_data"'
SHARED = BYTES + ',"system_shared_memory"'
ROUNDS, REQUESTS, SECONDS = 7, 100, "4"


def write_model(path, shape):
    """One that computes nothing: what is measured is the way."""
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, shape)
    y = helper.make_tensor_value_info("y", TensorProto.UINT8, (1, 1, 1, 1))

    def ints(name, v):
        return helper.make_tensor(name, TensorProto.INT64, [4], v)

    node = helper.make_node("Slice", ["x", "from", "to"], ["y"])
    graph = helper.make_graph([node], "m", [x], [y], [ints("from", [0] * 4), ints("to", [1] * 4)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8), path)


@contextlib.contextmanager
def server(model, extensions, *device, processor=None):
    command = ["taskset", "-c", str(processor)] if processor is not None else []
    process = subprocess.Popen([*command, f"{BUILD}/tests/remote/remote-serve", model, extensions, *device], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().strip()
    process.communicate("")


def ours(model, device, *config, how=("-n", str(REQUESTS))):
    arguments = [a for c in config for a in ("-c", c)]
    return json.loads(subprocess.run([f"{BUILD}/lib/tools/axon-bench", "-j", *how, "-d", device, *arguments, model], check=True,
                                     capture_output=True, text=True).stdout)


def percentiles(result):
    return result["median_ms"], result["p95_ms"]


def triton(url, shape):
    data = np.random.default_rng(1).integers(0, 255, shape, np.uint8)
    client, times = tritonclient.http.InferenceServerClient(url[len("http://"):]), []
    for _ in range(REQUESTS):
        begin = time.perf_counter()
        x = tritonclient.http.InferInput("x", shape, "UINT8")
        x.set_data_from_numpy(data, binary_data=True)
        client.infer("m", [x], outputs=[tritonclient.http.InferRequestedOutput("y", binary_data=True)]).as_numpy("y")
        times.append((time.perf_counter() - begin) * 1e3)
    times.sort()
    return statistics.median(times), times[int(len(times) * .95)]


def in_rounds(contenders):
    """Name to median figures; a round runs each of them once."""
    results = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, run in contenders.items():
            results[name].append(run())
    return {name: [statistics.median(f) for f in zip(*r)] for name, r in results.items()}


def overhead():
    for i, (size, shape) in enumerate(SHAPES.items()):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/m.onnx"
            write_model(path, shape)
            with server(path, BYTES) as plain, server(path, SHARED) as sharing:
                results = in_rounds({
                    "here": lambda: percentiles(ours(path, "TEMPLATE")),
                    "REMOTE, bytes": lambda: percentiles(ours(path, "REMOTE", f"URL={plain}", "REMOTE_MODEL=m")),
                    "REMOTE, shared memory": lambda: percentiles(ours(path, "REMOTE", f"URL={sharing}", "REMOTE_MODEL=m")),
                    "tritonclient (Python), bytes": lambda: triton(plain, shape)})
        if i == 0:
            print("| input | " + " | ".join(results) + " |\n|---|" + "---:|" * len(results))
        for k, what in enumerate(("p50", "p95")):
            print(f"| {size}, {what} | " + " | ".join(f"{r[k]:.2f} ms" for r in results.values()) + " |")


def rates():
    last = os.cpu_count() - 1
    with server(MODEL, BYTES, "CPU", processor=0) as one, server(MODEL, BYTES, "CPU", processor=last) as two:
        places = [f'DEVICE_PROPERTIES_REMOTE.{i}={{"URL": <"{url}">, "REMOTE_MODEL": <"m">}}' for i, url in enumerate((one, two))]
        local = 'DEVICE_PROPERTIES_CPU={"INFERENCE_NUM_THREADS": <"1">}'

        def rate(device, *config):
            return lambda: [ours(MODEL, device, *config, how=("-t", SECONDS, "--nireq", "16"))["fps"]]

        results = in_rounds({"CPU, one thread": rate("CPU", "INFERENCE_NUM_THREADS=1"),
                             "a server": rate("REMOTE", f"URL={one}", "REMOTE_MODEL=m"),
                             "MULTI:REMOTE.0,REMOTE.1": rate("MULTI:REMOTE.0,REMOTE.1", *places),
                             "MULTI:REMOTE.0,REMOTE.1,CPU": rate("MULTI:REMOTE.0,REMOTE.1,CPU", *places, local)})
    print(f"\nframes per second of {os.path.basename(os.path.dirname(MODEL))}, {os.cpu_count()} processors\n")
    print("| " + " | ".join(results) + " |\n|" + "---:|" * len(results))
    print("| " + " | ".join(f"{r[0]:.0f}" for r in results.values()) + " |")


overhead()
rates()
