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
CHARTS = ["How many runs took how long", "The slowest steps", "Steps below the roofline", "Memory"]


def check(sentence, ok, seen=""):
    global failures
    print(f"{'ok' if ok else 'not ok'} - {sentence}{'' if ok else f': {seen}'}")
    failures += not ok


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
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


with tempfile.TemporaryDirectory() as tmp:
    model_file = os.path.join(tmp, "a<b>.onnx")
    make_model(model_file)
    two_results(tmp, one_run(tmp, model_file))
    bad_input(tmp, model_file)
sys.exit(failures > 0)
