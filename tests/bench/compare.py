#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Axon beside ONNX Runtime (and OpenVINO where it is installed), interleaved in one run.

Bench only: needs the Python packages onnxruntime and numpy. Reports medians and ratios; asserts nothing.
usage: compare.py AXON_BENCH MODEL.onnx... [--rounds N] [--threads 1,2]"""
import argparse
import json
import resource
import statistics
import subprocess
import sys
import time

PEER = r'''
import json, resource, sys, time
import numpy as np
engine, path, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
def rss(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
t0 = time.perf_counter()
if engine == "onnxruntime":
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
    base, t0 = rss(), time.perf_counter()
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    info = session.get_inputs()[0]
    shape, name = [d if isinstance(d, int) else 1 for d in info.shape], info.name
    x = np.random.rand(*shape).astype(np.float32)
    run = lambda: session.run(None, {name: x})
else:
    import openvino as ov
    base, t0 = rss(), time.perf_counter()
    compiled = ov.Core().compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": threads,
                                                     "PERFORMANCE_HINT": "LATENCY"})
    request = compiled.create_infer_request()
    x = np.random.rand(*compiled.inputs[0].shape).astype(np.float32)
    run = lambda: request.infer({0: x})
load = (time.perf_counter() - t0) * 1e3
for _ in range(5): run()
times, end = [], time.perf_counter() + float(sys.argv[4])
while time.perf_counter() < end:
    t = time.perf_counter(); run(); times.append((time.perf_counter() - t) * 1e3)
times.sort()
print(json.dumps({"median_ms": times[len(times) // 2], "load_ms": load, "rss_kb": rss() - base}))
'''


def axon(bench, path, threads, seconds):
    out = subprocess.run([bench, "--json", "--time", str(seconds), "--config",
                          f"INFERENCE_NUM_THREADS={threads}", path], capture_output=True, text=True,
                         check=True).stdout
    r = json.loads(out)
    return {"median_ms": r["median_ms"], "load_ms": r["load_ms"] + r["compile_ms"],
            "rss_kb": r["max_rss_kb"]}


def peer(engine, path, threads, seconds):
    r = subprocess.run([sys.executable, "-c", PEER, engine, path, str(threads), str(seconds)],
                       capture_output=True, text=True)
    return json.loads(r.stdout.strip().splitlines()[-1]) if r.returncode == 0 else None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("bench")
    p.add_argument("models", nargs="+")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--threads", default="1,2")
    p.add_argument("--seconds", type=float, default=1.5)
    a = p.parse_args()
    print("| model | threads | Axon ms | ONNX Runtime ms | ratio | OpenVINO ms | load+compile ms: Axon / ORT |"
          " memory MB: Axon / ORT |\n|---|---|---|---|---|---|---|---|")
    for path in a.models:
        for threads in map(int, a.threads.split(",")):
            rows = {"axon": [], "onnxruntime": [], "openvino": []}
            for _ in range(a.rounds):
                rows["axon"].append(axon(a.bench, path, threads, a.seconds))
                for engine in ("onnxruntime", "openvino"):
                    r = peer(engine, path, threads, a.seconds)
                    if r:
                        rows[engine].append(r)
            m = {k: {f: statistics.median(r[f] for r in v) for f in v[0]} for k, v in rows.items() if v}
            x, o, v = m["axon"], m.get("onnxruntime"), m.get("openvino")
            name = path.split("/")[-2] if path.endswith("/model.onnx") else path
            print(f"| {name} | {threads} | {x['median_ms']:.2f} | "
                  + (f"{o['median_ms']:.2f} | **{x['median_ms'] / o['median_ms']:.2f}** | " if o else "- | - | ")
                  + (f"{v['median_ms']:.2f} | " if v else "- | ")
                  + f"{x['load_ms']:.0f} / " + (f"{o['load_ms']:.0f} | " if o else "- | ")
                  + f"{x['rss_kb'] / 1024:.0f} / " + (f"{o['rss_kb'] / 1024:.0f} |" if o else "- |"), flush=True)


main()
