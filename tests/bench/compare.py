#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Axon beside ONNX Runtime and OpenVINO, which it installs into a folder of its own, in turns. Parts: latency, int8, busy
(two busy processes beside), paced (frames 33 ms apart), load (load, compile, first result, memory), pipeline (a video
through GStreamer, beside OpenCV's reader with ONNX Runtime), chain (the same with tracks and a classifier), steps (below
the roofline), accuracy (of 8-bit models).

usage: compare.py BUILD [--part NAME,...] [--isa AVX2] [--threads 1,2] [--rounds N] [--seconds S] [--models NAME,...]
       [--write docs/performance.md] [--report-only] [--impatient] [--data DIR] [--work DIR] [--peers DIR]

What is measured is kept in WORK/results.json part by part; --write puts the tables into the document, --report-only
without measuring anything. A turn in which others took more than 6 % of the machine is repeated, unless --impatient."""
import argparse
import os
import sys

import engines

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "axon-bench")
PARTS = "latency,int8,busy,paced,load,pipeline,chain,steps,accuracy"


def arguments():
    p = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    p.add_argument("build")
    p.add_argument("--part", default=PARTS)
    p.add_argument("--isa", choices=list(engines.ONEDNN_ISA))
    p.add_argument("--threads", default="1,2", type=lambda s: [int(n) for n in s.split(",")])
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=1.0)
    p.add_argument("--models")
    p.add_argument("--write")
    p.add_argument("--report-only", action="store_true")
    p.add_argument("--impatient", action="store_true")
    p.add_argument("--data", default=os.environ.get("AXON_TEST_DATA") or os.path.join(HERE, "../../../shared"))
    p.add_argument("--work", default=WORK, type=os.path.abspath)
    p.add_argument("--peers", type=os.path.abspath)
    return p.parse_args()


def main():
    a = arguments()
    engines.use_peers(a.peers or os.path.join(a.work, "peers"))
    import accuracy
    import loading
    import models
    import pipeline
    import speed
    import steps
    import tables
    parts = {"latency": speed.Latency, "int8": speed.Int8, "busy": speed.Busy, "paced": speed.Paced, "load": loading.Loading,
             "pipeline": pipeline.Pipeline, "chain": pipeline.Chain, "steps": steps.Steps, "accuracy": accuracy.Accuracy}
    a.engines = engines.Engines(a.build, a.work, a.isa, not a.impatient)
    a.results = tables.Results(os.path.join(a.work, "results.json"))
    wanted = a.models and set(a.models.split(","))
    a.choose = lambda paths: [p for p in paths if not wanted or models.name_of(p) in wanted]
    for name in a.part.split(","):
        part = parts[name](a.isa)
        if not a.report_only:
            part.measure(a)
        capped = f", capped at {a.isa}{a.engines.exception}" if a.isa else ""
        lines = [f"{tables.processor()}{capped}, {os.cpu_count()} processors. "
                 f"Rounds: {a.results.rounds(part.name)}.", "", *part.report(a)]
        print("\n".join([f"## {part.title}", "", *lines, ""]), flush=True)
        if a.write:
            tables.put(a.write, part.name, lines)
    return 0


sys.exit(main())
