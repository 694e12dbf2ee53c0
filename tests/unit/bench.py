#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""axon-bench runs any model as it is, and shows where its time goes. usage: bench.py AXON_BENCH"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as lacks:
    print(f"{lacks} (Debian: python3-numpy, python3-onnx)")
    sys.exit(77)

F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
failures = 0


def check(sentence, ok, seen=""):
    global failures
    print(f"{'ok' if ok else 'not ok'} - {sentence}{'' if ok else f': {seen}'}")
    failures += not ok


def save(path, inputs, nodes, output, constants=()):
    graph = helper.make_graph(
        [helper.make_node(op, i, [o], **a) for op, i, o, a in nodes], "model",
        [helper.make_tensor_value_info(name, dtype, shape) for name, dtype, shape in inputs],
        [helper.make_tensor_value_info(output, TensorProto.UNDEFINED, None)],
        [numpy_helper.from_array(np.array(v), k) for k, v in constants])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path)


def bench(path, *options):
    out = subprocess.run([sys.argv[1], "--niter", "2", "--config", "INFERENCE_NUM_THREADS=1", *options, path],
                         capture_output=True, text=True, check=False)
    return out.stdout if out.returncode == 0 else f"failed: {out.stderr}"


def chosen(path, *options):
    out = bench(path, "--json", *options)
    return [i["shape"] for i in json.loads(out)["inputs"]] if out.startswith("{") else out


def weights(*shape):
    return np.random.default_rng(1).random(shape, np.float32)


def sizes(tmp):
    path = os.path.join(tmp, "model.onnx")
    conv = [("Conv", ["x", "w"], "y", {})]
    save(path, [("x", F, ["n", 3, "h", "w"])], conv, "y", [("w", weights(8, 3, 3, 3))])
    check("a picture of free size gets batch 1 and 224x224", chosen(path) == [[1, 3, 224, 224]], chosen(path))
    check("a shape that is given is taken", chosen(path, "--shape", "2,3,16,24") == [[2, 3, 16, 24]])
    check("the choice is said", "chosen" in bench(path), bench(path))
    save(path, [("x", F, ["n", "c", "h", "w"])], conv, "y", [("w", weights(8, 3, 3, 3))])
    check("free channels are tried", chosen(path) == [[1, 3, 224, 224]], chosen(path))
    save(path, [("x", F, ["n", 3, "h", "w"])], [("Reshape", ["x", "s"], "y", {})], "y",
         [("s", np.array([3, 320, 320]))])
    check("the size is one that the graph takes", chosen(path) == [[1, 3, 320, 320]], chosen(path))
    save(path, [("x", F, ["n", "a", "b"])], [("Reshape", ["x", "s"], "y", {})], "y", [("s", np.array([17, 15]))])
    found = chosen(path)
    check("sizes that differ are found", isinstance(found, list) and np.prod(found) == 255, found)
    save(path, [("x", F, [1, 4])], [("Reshape", ["x", "s"], "y", {})], "y", [("s", np.array([3, 5]))])
    check("a model that takes no size says why", "failed" in bench(path), bench(path))


def values(tmp):
    path = os.path.join(tmp, "model.onnx")
    save(path, [("ids", I64, [1, "length"]), ("attention_mask", I64, [1, "length"])],
         [("Gather", ["words", "ids"], "g", {}), ("Mul", ["ids", "attention_mask"], "m", {}),
          ("Cast", ["m"], "f", {"to": F}), ("ReduceSum", ["g", "last"], "s", {"keepdims": 0}), ("Add", ["s", "f"], "y", {})],
         "y", [("words", weights(120, 4)), ("last", np.array([2]))])
    check("rows of words are 128 long", chosen(path) == [[1, 128], [1, 128]], chosen(path))
    check("a mask is ones", "attention_mask\": i64[1,128]" in bench(path) and "values 1\n" in bench(path), bench(path))
    save(path, [("ids", I64, [4])], [("Gather", ["words", "ids"], "y", {})], "y", [("words", weights(2, 4))])
    check("numbers that are out of range are replaced", chosen(path) == [[4]], chosen(path))
    save(path, [("x", BOOL, [2, 3])], [("Not", ["x"], "y", {})], "y")
    check("truth values are inputs, too", "true or false" in bench(path), bench(path))
    length = helper.make_graph([helper.make_node("SequenceLength", ["x"], ["y"])], "g",
                               [helper.make_tensor_sequence_value_info("x", F, None)], [helper.make_tensor_value_info("y", I64, [])])
    onnx.save(helper.make_model(length, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path)
    check("a sequence of which nothing is known is empty", "values empty\n" in bench(path), bench(path))
    folder = os.path.join(tmp, "test_data_set_0")
    os.mkdir(folder)
    save(path, [("x", F, ["n", 4])], [("Relu", ["x"], "y", {})], "y")
    with open(os.path.join(folder, "input_0.pb"), "wb") as f:
        f.write(numpy_helper.from_array(weights(7, 4)).SerializeToString())
    check("test_data_set_0 beside the model says the shape", chosen(path) == [[7, 4]], chosen(path))


def profile(tmp):
    path = os.path.join(tmp, "net.onnx")
    save(path, [("x", F, [1, 16, 64, 64])], [("Conv", ["x", "w"], "c", {}), ("LRN", ["c"], "y", {"size": 5})], "y",
         [("w", weights(16, 16, 3, 3))])
    if "without cairo" in bench(path, "--chart", os.path.join(tmp, "none.svg")):
        print("skip: charts (built without cairo)")
        return
    files = [os.path.join(tmp, name) for name in ("graph.dot", "chart.svg", "chart.png")]
    out = bench(path, "--profile", "--exec-graph", files[0], "--chart", files[1])
    check("a profile has operations, bytes and the part of the roofline", "GOP/s" in out and "roofline" in out, out)
    check("and the peaks", "peaks" in out, out)
    with open(files[0], encoding="utf-8") as f:
        dot = f.read()
    check("the drawn graph tells the same", "of the roofline" in dot and "label=\"peaks" in dot, dot)
    steps = json.loads(bench(path, "--profile", "--json", "--chart", files[2]))["steps"]
    conv = next(s for s in steps if s["type"] == "Conv")
    check("the operations of a convolution are counted", conv["operations"] == 2 * 16 * 62 * 62 * 144, conv)
    with open(files[1], "rb") as svg, open(files[2], "rb") as png:
        check("a chart is drawn as SVG and as PNG", b"<svg" in svg.read() and png.read(4) == b"\x89PNG")
    # Symptom: a graph whose shapes follow from data had an empty profile.
    save(path, [("x", F, [4, 8])], [("Relu", ["x"], "r", {}), ("NonZero", ["r"], "n", {}), ("Cast", ["n"], "y", {"to": F})],
         "y")
    steps = json.loads(bench(path, "--profile", "--json"))["steps"]
    check("what runs between shapes that are known is profiled, too", {s["type"] for s in steps} >= {"NonZero", "Cast"}, steps)
    chart(tmp)


def costs_model(path):
    """Two convolutions, one step that computes nothing, one whose shape follows from data."""
    save(path, [("x", F, [1, 16, 64, 64])],
         [("Conv", ["x", "w"], "c", {}), ("Conv", ["c", "v"], "d", {}), ("LRN", ["d"], "e", {"size": 5}),
          ("NonZero", ["e"], "n", {}), ("Cast", ["n"], "y", {"to": F})], "y", [("w", weights(16, 16, 3, 3)), ("v", weights(32, 16, 3, 3))])


def near(seen, expected, slack=0.02):
    return len(seen) == len(expected) and all(abs(a - b) < slack for a, b in zip(seen, expected))


def figures(tmp):
    path = os.path.join(tmp, "costs.onnx")
    costs_model(path)
    page = os.path.join(tmp, "costs.html")
    seen = json.loads(bench(path, "--profile", "--json"))
    steps = seen["steps"]
    convs = [s for s in steps if s["type"] == "Conv"]
    check("every convolution has its operations and bytes", [(s["operations"], s["bytes"]) for s in convs] ==
          [(2 * 16 * 62 * 62 * 144, 4 * (16 * 64 * 64 + 16 * 144 + 16 * 62 * 62)),
           (2 * 32 * 60 * 60 * 144, 4 * (16 * 62 * 62 + 32 * 144 + 32 * 60 * 60))], convs)
    us = sum(s["us"] for s in steps)
    expected = [(s["us"] / us, max(s["operations"] / seen["peak_f32"], s["bytes"] / seen["peak_memory"]) / s["us"] / 1000) for s in steps]
    check("shares are of all steps, and the part of the roofline is the nearer peak's",
          near([x for s in steps for x in (s["share"], s["fraction"])], [x for pair in expected for x in pair], 1e-9), (steps, expected))
    table = bench(path, "--profile", "--report", page)
    rows = [line.split(maxsplit=1) for line in table.split("\n") if re.match(r" *[\d.]+ +[\d.]+ % ", line)]
    rows = [re.fullmatch(r"([\d.]+ %) +(\S+) +(\S+) +(-|[\d.]+ %) (<| ) +(\S+) +(\S+) +(\S+) *", rest).groups() for _, rest in rows]
    with open(page, encoding="utf-8") as f:
        listed = [re.findall("<td.*?>(.*?)</td>", row) for row in re.findall(r'<tr>(<td class="name">.*?)</tr>', f.read())]
    known = {s["name"]: (s["operations"], s["bytes"], s["fraction"]) for s in steps}
    listed = [row[:3] + row[4:5] + [text if n else "-" for text, n in zip(row[5:], known[row[0]])] for row in listed]
    check("the table tells what the page does, and - for what is not known", listed ==
          [[r[7], r[5], r[6], r[0], r[1], r[2], "&lt; " * (r[4] == "<") + r[3]] for r in rows], (table, listed))
    check("which is so of what only moves values", "-" in [r[1] for r in rows] and "-" in [r[3] for r in rows], table)
    check("slow steps are counted", f"\n{sum(r[4] == '<' for r in rows)} steps (<)" in table, table)


def paths(svg, mark):
    """Points of what is drawn so."""
    return [re.findall(r"(-?[\d.]+) (-?[\d.]+)", re.search(r' d="(.*?)"', tag).group(1))
            for tag in re.findall(r"<path [^>]*>", svg) if re.search(mark, tag)]


def is_bar(points):
    return len(points) >= 4 and points[0][0] == "330"


def chart(tmp):
    path, file = os.path.join(tmp, "costs.onnx"), os.path.join(tmp, "costs.svg")
    costs_model(path)
    seen = json.loads(bench(path, "--profile", "--json", "--chart", file))
    with open(file, encoding="utf-8") as f:
        svg = f.read()
    steps = sorted(seen["steps"], key=lambda s: -s["us"])
    drawn = [[float(n) for n in p[0] + p[2]] for p in paths(svg, "fill-rule") if is_bar(p)]
    check("the slowest steps are bars as long as their times", len(drawn) == len(steps) and
          all(near(bar, (330, 58 + 18 * i, 330 + max(260 * s["us"] / steps[0]["us"], 1), 72 + 18 * i))
              for i, (bar, s) in enumerate(zip(drawn, steps))), (drawn, steps))
    colours = [[float(n) for n in re.findall(r"([\d.]+)%", tag)[:3]] for tag in re.findall(r"<path [^>]*>", svg) if " d=\"M 330 " in tag]
    goods = [min(max((math.log2(s["fraction"]) + 5) / 4, 0), 1) if s["fraction"] else None for s in steps]
    check("and the redder, the farther they are from the roofline; grey, where that is not known",
          len(colours) == len(goods) and all(near(c, [60, 60, 60] if good is None else [85 - 70 * good, 15 + 50 * good, 15])
                                             for c, good in zip(colours, goods)), (colours, goods))
    roofline(svg, seen)
    save(path, [("x", F, [1, 8, 4, 4])], [("LRN", [f"v{i}" if i else "x"], f"v{i + 1}", {"size": 3}) for i in range(45)], "v45")
    bench(path, "--chart", file)
    with open(file, encoding="utf-8") as f:
        svg = f.read()
    check("forty bars at most, all in the picture", len([p for p in paths(svg, "fill-rule") if is_bar(p)]) == 40 and
          'height="786' in svg, svg[:300])
    # Symptom: where no step took a microsecond, the figures stood over the names.
    save(path, [("x", F, [1, 4])], [("Relu", ["x"], "y", {})], "y")
    bench(path, "--chart", file)
    with open(file, encoding="utf-8") as f:
        firsts = [x for x, y in starts(f.read()) if y == 68]
    check("the figures of a step of no time stand behind its name and its bar", len(firsts) == 2 and firsts[0] == 10 and firsts[1] >= 336, firsts)


def starts(svg):
    """Where texts begin."""
    return [(float(x), float(y)) for x, y in re.findall(r'<g [^>]*>\s*<use [^>]*x="([\d.]+)" y="([\d.]+)"', svg)]


def roofline(svg, seen):
    octave, peaks = 520 / 18, [seen["peak_f32"], *([seen["peak_int8"]] if seen["peak_int8"] > seen["peak_f32"] else [])]
    least = math.ceil(math.log2(max(peaks))) - 17
    at_x = lambda x: 860 + min(max(math.log2(x) + 6, 0), 18) * octave
    at_y = lambda y: 576 - min(max(math.log2(y) - least, 0), 18) * octave
    firsts = starts(svg)
    check("numbers of the roofline stand in a row below it, and in a column beside it",
          near([x for x, y in firsts if y == 592], [852 + 3 * i * octave for i in range(7)]) and
          near([y for x, y in firsts if x == 812][:7], [580 - 3 * i * octave for i in range(7)]), firsts)
    roofs = [[float(n) for point in points for n in point] for points in paths(svg, r"stroke[:=]\W?rgb\(20")]
    check("the roofs rise with the memory's speed to the arithmetic's",
          len(roofs) == len(peaks) and all(near(roof, (860, at_y(seen["peak_memory"] / 64), at_x(peak / seen["peak_memory"]), at_y(peak), 1380, at_y(peak)))
                                  for roof, peak in zip(roofs, peaks)), (roofs, seen))
    discs = [s for s in seen["steps"] if s["operations"] > 0]
    drawn = [[[float(x) for x, _ in p], [float(y) for _, y in p]] for p in paths(svg, r'fill-opacity\W+0\.6')]
    check("each step that computes is a disc, and no other", len(drawn) == len(discs), (drawn, discs))
    # Symptom: the first disc had a tail that began at the name of the roof.
    check("a disc is a whole circle, with no tail", all((xs[0], ys[0]) == (xs[-1], ys[-1]) and near([max(xs) - min(xs)], [max(ys) - min(ys)])
                                                        for xs, ys in drawn), drawn)
    check("of the step's time, at its speed and at its operations a byte",
          all(near(((max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2, (max(xs) - min(xs)) / 2),
                   (at_x(s["operations"] / s["bytes"]), at_y(s["operations"] / s["us"] / 1000), 2 + 30 * math.sqrt(s["share"])), 0.05)
              for (xs, ys), s in zip(drawn, discs)), (drawn, discs))


with tempfile.TemporaryDirectory() as folder_of_tests:
    sizes(folder_of_tests)
    values(folder_of_tests)
    figures(folder_of_tests)
    profile(folder_of_tests)
sys.exit(failures > 0)
