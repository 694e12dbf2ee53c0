#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One model on one peer, in a process of its own: ONNX Runtime as it comes, with session.x64quantprecision=1 or without
spinning, or OpenVINO. Inputs are those of a .npz file, by name. Prints JSON.

usage: child.py '{"engine": ..., "model": ..., "inputs": FILE.npz, "threads": N, "seconds": S}'; more keys:
"interval": milliseconds from one run to the next; "warmup": seconds of runs before; "save": FILE.npz for the results of
one run; "cache": a folder."""
import contextlib
import json
import os
import sys
import time

import numpy as np
from engines import memory

ONNXRUNTIME = {"onnxruntime": {}, "onnxruntime exact": {"session.x64quantprecision": "1"},
               "onnxruntime passive": {"session.intra_op.allow_spinning": "0"}}


def open_onnxruntime(job, inputs):
    import onnxruntime as ort
    ort.set_default_logger_severity(4)

    def load():
        options = ort.SessionOptions()
        options.intra_op_num_threads = job["threads"]
        for key, value in ONNXRUNTIME[job["engine"]].items():
            options.add_session_config_entry(key, value)
        session = ort.InferenceSession(job["model"], options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, inputs)
    return load


def open_openvino(job, inputs):
    import openvino as ov

    def load():
        core = ov.Core()
        model = core.read_model(job["model"])
        if model.is_dynamic():
            model.reshape({name: array.shape for name, array in inputs.items()})
        # f32 as everybody else: its default is bf16 where the processor has that.
        config = {"INFERENCE_NUM_THREADS": job["threads"], "PERFORMANCE_HINT": "LATENCY",
                  "INFERENCE_PRECISION_HINT": "f32"}
        if job.get("cache"):
            config["CACHE_DIR"] = job["cache"]
        compiled = core.compile_model(model, "CPU", config)
        request = compiled.create_infer_request()

        def run():
            request.infer(inputs)
            return [request.get_output_tensor(i).data for i in range(len(compiled.outputs))]
        return run
    return load


def timed(run, seconds, interval):
    """Milliseconds of each run, and of the processors for each."""
    times, begin, cpu = [], time.perf_counter(), time.process_time()
    while not times or time.perf_counter() - begin < seconds:
        if interval:
            time.sleep(max(0, begin + len(times) * interval / 1e3 - time.perf_counter()))
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return sorted(times), (time.process_time() - cpu) * 1e3 / len(times)


def main():
    job = json.loads(sys.argv[1])
    with np.load(job["inputs"]) as arrays:
        inputs = {name: arrays[name] for name in arrays.files}
    load = (open_openvino if job["engine"] == "openvino" else open_onnxruntime)(job, inputs)
    base, begin = memory("self", "VmRSS"), time.perf_counter()
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as f:
        f.write("5")  # the peak starts here
    run = load()
    loaded = time.perf_counter()
    results = run()
    first = time.perf_counter()
    if job.get("save"):
        np.savez(job["save"], *[np.array(y) for y in results])
        return
    for _ in range(4):
        run()
    timed(run, job.get("warmup", 0), 0)
    times, cpu = timed(run, job["seconds"], job.get("interval", 0))
    print(json.dumps({"median_ms": times[len(times) // 2], "p95_ms": times[int(len(times) * 0.95)], "cpu_ms": cpu,
                      "load_ms": (loaded - begin) * 1e3, "ready_ms": (first - begin) * 1e3,
                      "rss_kb": memory("self", "VmHWM") - base}))
    sys.stdout.flush()
    os._exit(0)  # no engine's farewell


main()
