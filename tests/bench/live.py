#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live camera of 30 frames a second before models of 5, 50 and 500 ms, for each policy of nninfer; and what elements cost
that add nothing. Prints the tables of docs/performance.md. The models are device MOCK of the tests, which waits.
usage: tests/bench/live.py BUILD [SECONDS]"""
import os
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BALL = os.path.join(ROOT, "pipelines", "quickstart", "ball.onnx")
POLICIES = {"none": "drop-policy=none", "newest": "drop-policy=newest",
            "newest, max-latency 100 ms": "drop-policy=newest max-latency=100000000"}
MODELS = (5, 50, 500)
CAMERA = "videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=1280,height=720,framerate=30/1"
SINK = "fakesink name=end sync=true qos=true max-lateness=20000000"  # as video sinks are
STREAM = "fakesrc num-buffers={} sizetype=fixed sizemax=3110400 filltype=nothing ! " \
         "video/x-raw,format=I420,width=1920,height=1080,framerate=30/1"
NOTHING = ("", "identity", "nnquery", "nndecode", "nnpublish location=/dev/null", "nnoverlay")


def environment(build):
    plugins = [os.path.join(build, "plugins", p) for p in ("cpu", "template")] + [os.path.join(build, "tests", "support")]
    return dict(os.environ, GST_PLUGIN_PATH=os.path.join(build, "gst"), AXON_PLUGIN_PATH=":".join(plugins),
                GST_REGISTRY=os.path.join(build, "bench-registry.bin"))


def start(launch):
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    Gst.init(None)
    return Gst, Gst.parse_launch(launch)


def camera(milliseconds, policy, seconds):
    """In a process of its own: its peak memory is the pipeline's."""
    Gst, pipeline = start(f"{CAMERA} ! nninfer name=nninfer model={BALL} device=MOCK {policy} "
                          f"config=\"config,NUM_STREAMS=1,MOCK_LATENCY={milliseconds}\" ! nndecode name=nndecode ! {SINK}")
    pipeline.set_state(Gst.State.PLAYING)
    pipeline.get_state(Gst.CLOCK_TIME_NONE)
    time.sleep(seconds)
    stats = pipeline.get_by_name("nninfer").get_property("stats")
    shown = pipeline.get_by_name("end").get_property("stats").get_value("rendered")
    held = pipeline.get_by_name("nndecode").get_property("stats").get_value("reused")
    pipeline.set_state(Gst.State.NULL)
    with open("/proc/self/status", encoding="ascii") as f:
        peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
    inferred = stats.get_value("inferred") + stats.get_value("late")
    print(f"{stats.get_value('frames')} | {shown} | {inferred} | {held} | {stats.get_value('total-p95') / 1e6:.0f} | "
          f"{peak / 1024:.0f}")


def per_frame(element, frames):
    """Microseconds of a stream with the element in it."""
    between = f"{element} ! " if element else ""
    Gst, pipeline = start(f"{STREAM.format(frames)} ! {between}fakesink sync=false")
    begin = time.monotonic()
    pipeline.set_state(Gst.State.PLAYING)
    pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    end = time.monotonic()
    pipeline.set_state(Gst.State.NULL)
    print((end - begin) / frames * 1e6)


def child(build, *arguments):
    command = [sys.executable, os.path.abspath(__file__), build, "--child", *map(str, arguments)]
    return subprocess.run(command, env=environment(build), check=True, capture_output=True, text=True).stdout.strip()


def processor():
    with open("/proc/cpuinfo", encoding="ascii") as f:
        return next(line.split(":")[1].strip() for line in f if line.startswith("model name"))


def main():
    build = os.path.abspath(sys.argv[1])
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    print(f"{processor()}, {os.cpu_count()} threads; {seconds} s of 1280x720 at 30 frames a second\n")
    print("| drop-policy | model, ms | frames in | shown | inferred | with held results | latency p95, ms | peak memory, MB |")
    print("|---|---|---|---|---|---|---|---|")
    for name in POLICIES:
        for ms in MODELS:
            print(f"| {name} | {ms} | {child(build, 'camera', ms, name, seconds)} |", flush=True)
    print("\n| adds nothing | microseconds a frame |\n|---|---|")
    base = None
    for element in NOTHING:
        us = min(float(child(build, "frame", element, 50000)) for _ in range(3))
        base = us if base is None else base
        if element:
            print(f"| {element.split()[0]} | {us - base:.1f} |", flush=True)


if "--child" in sys.argv:
    what, *rest = sys.argv[sys.argv.index("--child") + 1:]
    if what == "camera":
        camera(int(rest[0]), POLICIES[rest[1]], int(rest[2]))
    else:
        per_frame(rest[0], int(rest[1]))
else:
    main()
