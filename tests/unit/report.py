#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of axon-bench --report: whole, by itself, and with every chart in it. usage: report.py AXON_BENCH"""
import html.parser
import json
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

failures = 0
VOID = {"meta", "link", "br"}
BARS_END = 7400
CHARTS = ["How many runs took how long", "The slowest steps", "Steps below the roofline", "Memory"]


def check(sentence, ok, seen=""):
    global failures
    print(f"{'ok' if ok else 'not ok'} - {sentence}{'' if ok else f': {seen}'}")
    failures += not ok


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.longest = 0  # where the longest bar of steps ends
        self.open, self.wrong, self.outside, self.names, self.charts, self.texts = [], [], [], [], [], []
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.charts += [dict(attrs)["aria-label"]] if tag == "svg" else []
        self.outside += [v for k, v in attrs if k in ("src", "href", "data", "action") and v != "data:,"]
        self.outside += [k for k, v in attrs if k.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)
        for key, value in attrs:
            if key in ("x", "y", "width", "height", "cx", "cy", "r") and not re.fullmatch(r"-?\d+", value):
                self.wrong.append(f"{tag} {key}={value}")
        place = dict(attrs)
        if tag == "rect" and self.charts[-1] == CHARTS[1]:
            self.longest = max(self.longest, int(place["x"]) + int(place["width"]))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"/{tag}")

    def handle_data(self, data):
        self.texts.append(data)


def bench(*arguments, env=None):
    return subprocess.run([sys.argv[1], "--config", "INFERENCE_NUM_THREADS=1", *arguments], capture_output=True, text=True, check=False,
                          env=dict(os.environ, **(env or {})))


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def make_model(path):
    """Names that are marks of HTML."""
    graph = helper.make_graph([helper.make_node("Conv", ["x<&>", "w"], ["c"], name='conv "<script>" & co'), helper.make_node("LRN", ["c"], ["y"], size=5)],
                              "model", [helper.make_tensor_value_info("x<&>", TensorProto.FLOAT, [1, 16, 64, 64])],
                              [helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)],
                              [numpy_helper.from_array(np.ones((16, 16, 3, 3), np.float32), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path)


def whole(what, text, charts):
    page = Page(text)
    check(f"{what} is well-formed", not page.wrong and text.startswith("<!DOCTYPE html>"), page.wrong)
    check("and needs nothing else, nor runs anything", not page.outside and "script" not in page.names and
          not re.search(r"url\(|@import|https?:", text), page.outside)
    check("and has its charts", page.charts == charts, page.charts)
    check("and is for light and dark", "prefers-color-scheme: dark" in text)
    return page


def one_run(folder, model):
    out = os.path.join(folder, "one.html")
    done = bench("-n", "30", "--json", "--report", out, model)
    result = json.loads(done.stdout)
    page = whole("the page of a run", read(out), CHARTS)
    told = "".join(page.texts)
    check("it tells the figures that JSON tells", f"{result['median_ms']:.3f} ms" in told and
          f"{result['max_rss_kb']:.0f} kB" in told, told[:400])
    check("the slowest step has the longest bar, as long as there is room", page.longest == BARS_END, page.longest)
    check("and names as they are, marks of HTML, too", 'conv "<script>" & co' in told and "x<&> f32[1,16,64,64]" in told, told[:400])
    done = bench("-n", "3", "--report", out, model, env={"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"})
    check("in a language that writes a comma, charts are the same", not Page(read(out)).wrong and done.returncode == 0, done.stderr)
    with open(os.path.join(folder, "result.json"), "w", encoding="utf-8") as f:
        json.dump(result, f)
    return result


def two_results(folder, result):
    first, second, out = (os.path.join(folder, name) for name in ("result.json", "second.json", "two.html"))
    with open(second, "w", encoding="utf-8") as f:
        json.dump(dict(result, median_ms=result["median_ms"] * 2, fps=result["fps"] * 2), f)
    done = bench("--report", out, first, second)
    check("two results are compared without measuring", done.returncode == 0 and done.stdout == "", done)
    text = read(out)
    page = whole("the page of two", text, CHARTS)
    check("worse is marked as such, and better, too", re.search(r'Median.*class="bad">\+100\.0 %', text) and
          re.search(r'Throughput.*class="good">\+100\.0 %', text) and "result.json" in page.texts, text[:100])
    with open(second, "w", encoding="utf-8") as f:
        json.dump({k: v for k, v in result.items() if k != "steps"}, f)
    bench("--report", out, first, second)
    page = whole("the page of a result without a profile", read(out), [CHARTS[0], CHARTS[3]])
    done = bench("--report", out, second, first)
    check("as it is where the first one has none", done.returncode == 0 and Page(read(out)).charts == page.charts, done)
    check("says what is missing", any("--profile" in t for t in page.texts))


def bad_input(folder, model):
    path, out = os.path.join(folder, "bad.json"), os.path.join(folder, "bad.html")
    for text, word in (("", "bad.json"), ("[1, 2", "bad.json"), ("[]", "median_ms"), ('{"median_ms": "x"}', "median_ms"),
                       ('{"runs": 1}', "median_ms")):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        done = bench("--report", out, path)
        check(f"{text!r} is no result, says which file", done.returncode == 1 and word in done.stderr and not os.path.exists(out), done)
    odd = {"median_ms": 1, "min_ms": -5, "p99_ms": 1e300, "latencies_ms": [1, "x", None, [], {}, 1e308, -3], "device": 7, "inputs": [3, {"shape": ["x", {}]}],
           "peak_f32": 5, "peak_memory": 1, "steps": [1, None, {"name": 4, "us": "x"}, {"name": "s", "us": 1e300, "operations": -1, "bytes": 1e-300}, {"us": 3, "operations": 1e300, "bytes": 1e300}]}
    with open(path, "w", encoding="utf-8") as f:
        json.dump(odd, f)
    done = bench("--report", out, path, path)
    check("values that are something else do no harm", done.returncode == 0 and done.stderr == "" and not Page(read(out)).wrong, done)
    check("two models, or results without --report, are refused", bench(model, model).returncode == 2 and bench(path).returncode == 2)
    done = bench("-n", "1", "--report", os.path.join(folder, "no", "such", "folder.html"), model)
    check("a page that cannot be written is an error", done.returncode == 1 and "folder.html" in done.stderr, done)


# Figures that go evenly into the charts' sizes.
STEPS = [{"name": "move", "type": "Transpose", "implementation": "own", "us": 90, "operations": 0, "bytes": 90e3},
         {"name": "conv", "type": "Conv", "implementation": "jit", "us": 600, "operations": 19.2e6, "bytes": 2.4e6},
         {"name": "small", "type": "QLinearConv", "implementation": "jit", "us": 300, "operations": 9.6e6, "bytes": 0.3e6, "of_bytes": True},
         {"name": "tiny", "type": "Add", "implementation": "own", "us": 10, "operations": 1e4, "bytes": 1e4}]
FIRST = {"device": "CPU", "inputs": [{"name": "x", "type": "f32", "shape": [1, 4], "values": "random"}], "load_ms": 10, "compile_ms": 100,
         "first_ms": 5, "median_ms": 12, "p95_ms": 19.8, "p99_ms": 20, "min_ms": 10, "max_ms": 25, "fps": 80, "runs": 8, "cpu_ms": 0,
         "max_rss_kb": 40000, "base_rss_kb": 10000, "latencies_ms": [10, 10.1, 10.1, 10.1, 12, 15, 19.95, 25],
         "peak_f32": 64, "peak_int8": 256, "peak_memory": 16, "threads": 2, "steps": STEPS}


def page_of(folder, *results):
    """The page's text, and what of it is in one of the charts."""
    files, out = [os.path.join(folder, f"{name}.json") for name in "ab"[:len(results)]], os.path.join(folder, "exact.html")
    for file, result in zip(files, results):
        with open(file, "w", encoding="utf-8") as f:
            json.dump(result, f)
    bench("--report", out, *files)
    text = read(out)
    return text, {chart: text.split(f'aria-label="{chart}">')[1].split("</svg>")[0] for chart in CHARTS if chart in Page(text).charts}


def texts(chart, kind):
    """(x, y, text) of a class."""
    return [(int(x), int(y), text) for x, y, text in re.findall(rf'<text x="(-?\d+)" y="(-?\d+)" class="{kind}">(.*?)</text>', chart)]


def bars(chart):
    """(x, y, width, class)"""
    return [(int(x), int(y), int(width), kind) for x, y, width, kind in
            re.findall(r'<rect x="(\d+)" y="(\d+)" width="(\d+)" height="140" class="(.*?)"/>', chart)]


def lines(chart, kind):
    return [tuple(int(n) for n in place) for place in re.findall(rf'<path d="M(\d+) (\d+)L(\d+) (\d+)" class="{kind}"/>', chart)]


def same(sentence, seen, expected):
    check(sentence, seen == expected, f"{seen}, expected {expected}")


def exact_latencies(folder):
    """From 10 to 20.4 ms: 875 a millisecond, 60 bins."""
    _, charts = page_of(folder, FIRST, dict(FIRST, p95_ms=19, latencies_ms=[10.2] * 8))
    chart = charts[CHARTS[0]]
    ticks = [(700, "10"), (2450, "12"), (4200, "14"), (5950, "16"), (7700, "18"), (9450, "20")]
    same("milliseconds stand below their lines, from the fastest run on",
         (texts(chart, "soft middle")[:-1], lines(chart, "grid")), ([(x, 3180, t) for x, t in ticks], [(x, 500, x, 3000) for x, _ in ticks]))
    heights = [[(int(x), int(y), int(to)) for x, y, to in re.findall(r"L(\d+) (\d+)H(\d+)", path) if y != "3000"]
               for path in re.findall(r'class="run\d pale" d="(.*?)"', chart)]
    same("runs are counted where they are, and as parts of all runs", heights,
         [[(700, 1750, 852), (2368, 2688, 2520), (4947, 2688, 5098), (9345, 2688, 9497)], [(852, 500, 1003)]])
    same("marks of what most runs take are named unless they are too near", [texts(chart, f"middle run{i}") for i in range(2)],
         [[(2450, 150, "50 %"), (9275, 150, "95 %")], [(2450, 300, "50 %"), (8575, 300, "95 %"), (9450, 300, "99 %")]])
    same("and each has its line", [lines(chart, f"mark run{i}") for i in range(2)],
         [[(x, 460, x, 3000) for x in (2450, place, 9450)] for place in (9275, 8575)])


def exact_steps(folder):
    text, charts = page_of(folder, FIRST, dict(FIRST, steps=[dict(STEPS[1], us=300), dict(STEPS[0], us=1200)]))
    chart = charts[CHARTS[1]]
    same("bars are as long as steps take beside the longest of both runs, and full up to the roofline", bars(chart),
         [(3600, 40, 1900, "run0 pale"), (3600, 40, 950, "run0"), (3600, 200, 950, "run1 pale"), (3600, 200, 950, "run1"),
          (3600, 420, 950, "run0 pale"), (3600, 420, 119, "run0"), (3600, 800, 285, "run0 pale"), (3600, 800, 18, "run0"),
          (3600, 960, 3800, "run1 pale"), (3600, 960, 18, "run1"), (3600, 1180, 32, "run0 pale"), (3600, 1180, 2, "run0")])
    same("figures stand behind the bars", texts(chart, "soft")[:3],
         [(5560, 150, "600 us, 60.0 %, 50 % of the roofline"), (4610, 310, "300 us, 20.0 %, 100 % of the roofline"),
          (4610, 530, "300 us, 30.0 %, 12 % of the roofline")])
    same("names stand before them", texts(chart, "end"), [(3520, 230, "Conv  conv"), (3520, 610, "QLinearConv  small"),
                                                          (3520, 990, "Transpose  move"), (3520, 1370, "Add  tiny")])
    rows = [re.findall("<td.*?>(.*?)</td>", row) for row in re.findall(r'<tr>(<td class="name">.*?)</tr>', text)]
    same("all steps are listed with their figures; slow is more than a hundredth of the time below an eighth of the roofline", rows[:4],
         [["move", "Transpose", "own", "90.0", "9.0 %", "-", "1.00", "&lt; 6.2 %"],
          ["conv", "Conv", "jit", "600.0", "60.0 %", "32.00", "4.00", "50.0 %"],
          ["small", "QLinearConv", "jit", "300.0", "30.0 %", "32.00", "1.00", "12.5 %"],
          ["tiny", "Add", "own", "10.0", "1.0 %", "1.00", "1.00", "6.2 %"]])
    names = ["a" * 40, "b" * 41, "c" * 20] + [f"step {i:02}" for i in range(28)]
    _, charts = page_of(folder, dict(FIRST, peak_f32=0, steps=[dict(STEPS[1], name=name, us=99 - i, type="T" * 40 if i == 2 else "Conv")
                                                             for i, name in enumerate(names)]))
    labels = [label for _, _, label in texts(charts[CHARTS[1]], "end")]
    same("a name that is too long for its place loses its beginning", labels[:3],
         ["Conv  " + "a" * 40, "Conv  …" + "b" * 39, "T" * 40 + "  …" + "c" * 11])
    same("thirty steps are drawn, the slowest", labels[3:], [f"Conv  step {i:02}" for i in range(27)])
    same("without peaks there is no roofline", list(charts), [CHARTS[0], CHARTS[1], CHARTS[3]])


def exact_roofline(folder):
    """18 octaves: 505.6 wide from 1/64 operation a byte on, 222.2 high from 1/512 GOP/s on."""
    _, charts = page_of(folder, FIRST)
    chart = charts[CHARTS[2]]
    same("numbers of the roofline stand at their lines", (texts(chart, "soft middle")[:-1], texts(chart, "soft end")[:-1]),
         ([(x, 4380, t) for x, t in zip((700, 2217, 3733, 5250, 6767, 8283, 9800), ("1/64", "1/8", "1", "8", "64", "512", "4096"))],
          [(640, y, t) for y, t in zip((4240, 3573, 2907, 2240, 1573, 907, 240), ("1/512", "1/64", "1/8", "1", "8", "64", "512"))]))
    same("the roofs rise with the memory's speed to the arithmetic's", (lines(chart, "roof"), texts(chart, "end")),
         ([(700, 2644, 4744, 867), (4744, 867, 9800, 867), (700, 2644, 5756, 422), (5756, 422, 9800, 422)],
          [(9800, 817, "f32"), (9800, 372, "int8")]))
    same("each step that computes is a disc of its time",
         re.findall(r'<circle cx="(\d+)" cy="(\d+)" r="(\d+)" class="run0 pale"><title>(.*?)</title>', chart),
         [("5250", "1089", "257", "Conv conv: 600 us, 32.0 GOP/s, 4.0 GB/s"),
          ("6261", "1089", "189", "QLinearConv small: 300 us, 32.0 GOP/s, 1.0 GB/s"),
          ("3733", "2200", "55", "Add tiny: 10 us, 1.0 GOP/s, 1.0 GB/s")])


def exact_figures(folder):
    text, charts = page_of(folder, FIRST, dict(FIRST, load_ms=20, median_ms=12.1, p95_ms=19, p99_ms=20.4, fps=79, max_ms=30, cpu_ms=3,
                                               max_rss_kb=20000, first_ms=0))
    rows = dict(re.findall(r"<tr><td>(.*?)</td><td>.*?</td><td>.*?</td><td(.*?)</td>", text))
    same("more than a hundredth is better or worse, where either is", rows,
         {"Reading the model": ' class="bad">+100.0 %', "Compiling": ">+0.0 %", "First run": ">–", "Median": ">+0.8 %",
          "95 % within": ' class="good">-4.0 %', "99 % within": ' class="bad">+2.0 %', "Fastest run": ">+0.0 %", "Slowest run": ">+20.0 %",
          "Throughput": ' class="bad">-1.2 %', "Runs": ">+0.0 %", "Processor time of a run": ">–", "Peak memory": ' class="good">-50.0 %',
          "Memory before the model": ">+0.0 %"})
    same("memory is drawn of each run, before the model and at its peak", (bars(charts[CHARTS[3]]), texts(charts[CHARTS[3]], "soft")),
         ([(3600, 60, 950, "run0 pale"), (3600, 260, 3800, "run0"), (3600, 460, 950, "run1 pale"), (3600, 660, 1900, "run1")],
          [(4610, 170, "10.0 MB"), (7460, 370, "40.0 MB"), (4610, 570, "10.0 MB"), (5560, 770, "20.0 MB")]))
    check("two runs are told apart by colours, and named in the title", text.count('class="key run') == 4 and
          "<title>b.json beside a.json</title>" in text, text[-6000:])
    text, _ = page_of(folder, FIRST)
    check("one has no other to be told from", 'class="key' not in text and "<title>a.json on CPU</title>" in text)
    same("the tiles tell what matters of one run", re.findall("<div><b>(.*?)</b><span>(.*?)</span>", text),
         [("12.000 ms", "Median"), ("19.800 ms", "95 % within"), ("20.000 ms", "99 % within"), ("80.0 /s", "Throughput"),
          ("100.0 ms", "Compiling"), ("5.00 ms", "First run"), ("40000 kB", "Peak memory")])
    check("and the inputs and the peaks stand above", "a.json: CPU; x f32[1,4] random</p>" in text and
          "peaks (threads: 2): 64 GFLOP/s, 256 GOP/s of bytes, 16.0 GB/s" in text, text[-6000:])


with tempfile.TemporaryDirectory() as tmp:
    model_file = os.path.join(tmp, "a<b>.onnx")
    make_model(model_file)
    two_results(tmp, one_run(tmp, model_file))
    bad_input(tmp, model_file)
    for exact in (exact_latencies, exact_steps, exact_roofline, exact_figures):
        exact(tmp)
sys.exit(failures > 0)
