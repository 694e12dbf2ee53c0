# SPDX-License-Identifier: LGPL-2.1-or-later
# What sending a tensor costs: device REMOTE, and tritonclient where Python has it, before the tests' server with a model
# that computes nothing, beside the same model run here. Milliseconds of a request, one at a time, and requests in a
# second, eight at a time.   usage: remote.py BUILD   (AXON_PLUGIN_PATH as meson devenv sets it)
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

BUILD = sys.argv[1]
SHAPES = {"150 KB": (1, 3, 224, 224), "5 MB": (1, 3, 1080, 1620)}
N = 100


def write_model(path, shape):
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, shape)
    y = helper.make_tensor_value_info("y", TensorProto.UINT8, (1, 1, 1, 1))
    ints = lambda name, v: helper.make_tensor(name, TensorProto.INT64, [4], v)
    node = helper.make_node("Slice", ["x", "from", "to"], ["y"])
    graph = helper.make_graph([node], "m", [x], [y], [ints("from", [0] * 4), ints("to", [1] * 4)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8), path)


def ours(model, *config):
    def bench(*how):
        out = subprocess.run([f"{BUILD}/lib/tools/axon-bench", *how, "-j", *config, model], check=True,
                             capture_output=True, text=True).stdout
        return json.loads(out)
    return bench


def row(name, times, rate):
    times = sorted(times)
    print(f"  {name:28} p50 {statistics.median(times):7.2f} ms  p95 {times[int(len(times) * .95)]:7.2f} ms  {rate:7.0f} /s")


def measure(run, threads=8):
    times = []
    for _ in range(N):
        t = time.perf_counter()
        run()
        times.append((time.perf_counter() - t) * 1e3)
    begin = time.perf_counter()
    pool = [threading.Thread(target=lambda: [run() for _ in range(N // 4)]) for _ in range(threads)]
    [t.start() for t in pool]
    [t.join() for t in pool]
    return times, threads * (N // 4) / (time.perf_counter() - begin)


def triton(url, shape):
    import tritonclient.http as http
    data, local = np.zeros(shape, np.uint8), threading.local()  # a client is one thread's

    def run():
        if not hasattr(local, "c"):
            local.c = http.InferenceServerClient(url[len("http://"):])
        x = http.InferInput("x", shape, "UINT8")
        x.set_data_from_numpy(data, binary_data=True)
        local.c.infer("m", [x], outputs=[http.InferRequestedOutput("y", binary_data=True)]).as_numpy("y")
    return run


def plain(url, shape):
    import http.client
    data, local = np.zeros(shape, np.uint8), threading.local()
    head = json.dumps({"inputs": [{"name": "x", "datatype": "UINT8", "shape": shape,
                                   "parameters": {"binary_data_size": data.nbytes}}],
                       "outputs": [{"name": "y", "parameters": {"binary_data": True}}]}).encode()

    def run():
        if not hasattr(local, "c"):
            local.c = http.client.HTTPConnection(url[len("http://"):])
        local.c.request("POST", "/v2/models/m/infer", head + data.tobytes(), {"Inference-Header-Content-Length": str(len(head))})
        local.c.getresponse().read()
    return run


for name, shape in SHAPES.items():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/m.onnx"
        write_model(path, shape)
        print(name)
        for kind, extensions in (("bytes", '"binary_tensor_data"'), ("shared memory", '"binary_tensor_data","system_shared_memory"')):
            server = subprocess.Popen([f"{BUILD}/tests/remote/remote-serve", path, extensions], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)
            url = server.stdout.readline().strip()
            for label, config in ((("here, TEMPLATE", ["-d", "TEMPLATE"]),) if kind == "bytes" else ()) + \
                    ((f"REMOTE, {kind}", ["-d", "REMOTE", "-c", f"URL={url}", "-c", "REMOTE_MODEL=m"]),):
                bench = ours(path, *config)
                one, many = bench("-n", str(N)), bench("-n", str(2 * N), "--nireq", "8")
                print(f"  {label:28} p50 {one['median_ms']:7.2f} ms  p95 {one['p95_ms']:7.2f} ms  {many['fps']:7.0f} /s")
            if kind == "bytes":
                for label, make in (("tritonclient (Python)", triton), ("http.client (Python)", plain)):
                    try:
                        row(label, *measure(make(url, shape)))
                    except ImportError as e:
                        print(f"  {label}: skipped: {e}")
            server.communicate("")
