#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""shapes.py PIPELINES BUILT SCHEMA: the quickstart's pipeline against what its generator says is in each frame: what is found, that
shapes keep their numbers, that the line counts all that goes over it, and that there is a picture."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

scripts, built, schema = (pathlib.Path(p) for p in sys.argv[1:4])
WIDTH, HEIGHT, FRAMES = 640, 480, 120


def overlap(a, b):
    w = min(a["x"] + a["w"], b["x"] + b["w"]) - max(a["x"], b["x"])
    h = min(a["y"] + a["h"], b["y"] + b["h"]) - max(a["y"], b["y"])
    both = max(w, 0) * max(h, 0)
    return both / (a["w"] * a["h"] + b["w"] * b["h"] - both)


def match(truth, found):
    """The best object for each shape; each object once."""
    pairs = sorted(((overlap(t, o), i, k) for i, t in enumerate(truth) for k, o in enumerate(found)
                    if t["label"] == o["roi_type"]), reverse=True)
    of = {}
    for good, i, k in pairs:
        if good >= 0.5 and i not in of and k not in of.values():
            of[i] = k
    return of


def crossings(truth):
    """To the left, which is forward of a line that goes down, and to the right."""
    sides = [[shape["x"] + shape["w"] / 2 > WIDTH / 2 for shape in frame] for frame in truth]
    steps = [(a, b) for before, after in zip(sides, sides[1:]) for a, b in zip(before, after)]
    return steps.count((True, False)), steps.count((False, True))


def check(out):
    truth = [json.loads(line) for line in (out / "shapes-truth.jsonl").open()]
    records = {round(r["pts"] * 30 / 1e9): r for r in map(json.loads, (out / "shapes.jsonl").open())}
    matches = [match(t, records[n]["objects"]) if n in records else {} for n, t in enumerate(truth)]
    right, there = sum(map(len, matches)), sum(map(len, truth))
    said = sum(len(r["objects"]) for r in records.values())
    numbers = [[records[n]["objects"][m[i]].get("id") for n, m in enumerate(matches) if i in m] for i in range(len(truth[0]))]
    kept = [max(map(ids.count, ids)) / len(truth) for ids in numbers]
    line = records[max(records)]["lines"][0]
    print(f"found {right} of {there}, said {said}, numbers kept for {[round(k, 2) for k in kept]} of the time; {line}, {crossings(truth)}")
    assert len(truth) == FRAMES
    assert right >= 0.97 * there, "shapes are missing"
    assert right >= 0.97 * said, "what is not there is found"
    assert min(kept) >= 0.9, "shapes do not keep their numbers"
    assert (line["count"], line["count_back"]) == crossings(truth), "not all that crosses is counted"
    assert all(b'"' + kind + b'"' in (out / "shapes.jsonl").read_bytes() for kind in (b"disc", b"square", b"triangle", b"star", b"cross"))
    assert (out / "shapes.jpg").read_bytes()[:3] == b"\xff\xd8\xff" and not list(out.glob("*.last.*")), "there is no picture"


with tempfile.TemporaryDirectory() as folder:
    env = dict(os.environ, OUT=folder, PATH=f"{built}:{os.environ['PATH']}", FRAMES=str(FRAMES))
    done = subprocess.run(["bash", scripts / "shapes.sh"], env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    assert f"{folder}/shapes.jpg" in done.stdout, "the picture is not told of"
    check(pathlib.Path(folder))
    checked = subprocess.run([sys.executable, pathlib.Path(__file__).parents[1] / "support/schema.py", schema, f"{folder}/shapes.jsonl"],
                             capture_output=True, text=True)
    assert checked.returncode in (0, 77), checked.stdout
