#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Axon beside ONNX Runtime (and OpenVINO where it is installed), interleaved in one run.

Bench only: needs what peers.py needs. Reports medians and ratios; asserts nothing.
usage: compare.py AXON_BENCH MODEL.onnx... [--rounds N] [--threads 1,2]"""
import argparse
import statistics

import peers


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
                rows["axon"].append(peers.measure_axon(a.bench, path, threads, a.seconds))
                for engine in ("onnxruntime", "openvino"):
                    r = peers.measure_peer(engine, path, threads, a.seconds)
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
