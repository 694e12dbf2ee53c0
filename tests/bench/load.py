#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""From file to compiled model: without the cache, the first time with it, from it, and from a compiled file.

Interleaved in one run; reports medians in milliseconds and sizes; asserts nothing.
usage: load.py BUILD MODEL.onnx... [--rounds N] [--device NAME]"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile

KINDS = ["onnx", "store", "cache", "cache, weightless", "compiled file"]


def bench(args, model, *config):
    command = [os.path.join(args.build, "lib/tools/axon-bench"), "--json", "--niter", "1", "--device", args.device]
    for pair in config:
        command += ["--config", pair]
    r = json.loads(subprocess.run([*command, model], capture_output=True, text=True, check=True).stdout)
    return r["load_ms"] + r["compile_ms"]


def size(folder):
    return sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)) / 2**20


def round_of(args, model, folder):
    full, light, file = (os.path.join(folder, n) for n in ("full", "light", "model.axon"))
    compiler = os.path.join(args.build, "lib/tools/axon-compile")
    subprocess.run([compiler, "--device", args.device, "--output", file, model], check=True, capture_output=True)
    times = {"onnx": bench(args, model), "store": bench(args, model, f"CACHE_DIR={full}"),
             "cache": bench(args, model, f"CACHE_DIR={full}")}
    bench(args, model, f"CACHE_DIR={light}", "CACHE_MODE=OPTIMIZE_SIZE")
    times["cache, weightless"] = bench(args, model, f"CACHE_DIR={light}", "CACHE_MODE=OPTIMIZE_SIZE")
    times["compiled file"] = bench(args, file)
    return times, size(full), size(light)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="CPU")
    args = parser.parse_args()
    print("| model | " + " | ".join(KINDS) + " | entry MB | weightless MB |")
    print("|---" * (len(KINDS) + 3) + "|")
    for model in args.models:
        rows = []
        for _ in range(args.rounds):
            folder = tempfile.mkdtemp(prefix="axon-load-")
            rows.append(round_of(args, model, folder))
            shutil.rmtree(folder)
        medians = [statistics.median(r[0][kind] for r in rows) for kind in KINDS]
        name = os.path.basename(os.path.dirname(os.path.abspath(model)))
        print(f"| {name} | " + " | ".join(f"{m:.0f}" for m in medians) + f" | {rows[0][1]:.1f} | {rows[0][2]:.1f} |")


main()
