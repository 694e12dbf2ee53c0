#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What all command-line tools have in common: JSON, exit statuses, progress on a terminal only.
usage: tools.py SOURCE AXON_RUN AXON_INSPECT AXON_BENCH AXON_COMPILE"""
import json
import os
import pty
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

SOURCE, RUN, INSPECT, BENCH, COMPILE = sys.argv[1:]
TOOLS = [RUN, INSPECT, BENCH, COMPILE]
failures = 0


def check(sentence, ok, seen=""):
    global failures
    print(f"{'ok' if ok else 'not ok'} - {sentence}{'' if ok else f': {seen}'}")
    failures += not ok


def call(*command, status=0):
    """Standard output of a command, which ends so; what it says on standard error where it succeeds is a failure."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    name = " ".join([os.path.basename(command[0]), *command[1:]])
    if done.returncode != status or (status == 0 and done.stderr):
        check(f"{name} ends with {status}, and quietly where that is 0", False, f"{done.returncode}: {done.stderr}")
    return done.stdout if status == 0 else done.stderr


def parsed(*command):
    return json.loads(call(*command, "--json"))


def make_files(folder):
    """A model whose outputs are of several types, its folder of expected outputs, and one that has wrong ones."""
    graph = helper.make_graph(
        [helper.make_node("Div", ["x", "zero"], ["y"]), helper.make_node("Greater", ["x", "zero"], ["positive"]),
         helper.make_node("Shape", ["x"], ["shape"])], "several types", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3]), helper.make_tensor_value_info("positive", TensorProto.BOOL, [1, 3]),
         helper.make_tensor_value_info("shape", TensorProto.INT64, [2])], [numpy_helper.from_array(np.float32([0]), "zero")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    x = np.float32([[1, -2, 0]])
    outputs = [np.float32([[np.inf, -np.inf, np.nan]]), np.array([[True, False, False]]), np.int64([1, 3])]
    for name, shape in (("good", [1, 3]), ("bad", [3, 1])):
        data = os.path.join(folder, name, "test_data_set_0")
        os.makedirs(data)
        onnx.save(model, os.path.join(folder, name, "model.onnx"))
        for file, value in (("input_0", x), ("output_0", outputs[0]), ("output_1", outputs[1]), ("output_2", np.int64(shape))):
            with open(os.path.join(data, file + ".pb"), "wb") as f:
                f.write(numpy_helper.from_array(value).SerializeToString())
    np.save(os.path.join(folder, "x.npy"), x)
    return [os.path.join(folder, *path) for path in (("good", "model.onnx"), ("good", "test_data_set_0"), ("bad", "test_data_set_0"), ("x.npy",))]


def test_run(folder, model, good, bad, x):
    outputs = parsed(RUN, "-i", x, model)["outputs"]
    check("axon-run tells names, types, shapes and values", [(o["name"], o["type"], o["shape"]) for o in outputs] ==
          [("y", "f32", [1, 3]), ("positive", "bool", [1, 3]), ("shape", "i64", [2])], outputs)
    check("what is no number is null, a truth value is one, an integer has no fraction",
          [o["values"] for o in outputs] == [[None, None, None], [True, False, False], [1, 3]], outputs)
    check("axon-run says that all outputs agree", all(o["agrees"] for o in parsed(RUN, "--expect", good, model)["outputs"]))
    done = subprocess.run([RUN, "--json", "--expect", bad, model], capture_output=True, text=True, check=False)
    check("an output that differs is in the JSON, and the exit status is 1", done.returncode == 1 and
          [o["agrees"] for o in json.loads(done.stdout)["outputs"]] == [True, True, False], done)
    done = subprocess.run([RUN, "--json", "--suite", folder], capture_output=True, text=True, check=False)
    suite = json.loads(done.stdout)
    check("a suite is counted", done.returncode == 1 and (suite["passed"], suite["failed"], suite["skipped"]) == (1, 1, 0) and
          {c["outcome"] for c in suite["cases"]} == {"passed", "failed"}, suite)
    done = subprocess.run([RUN, "--json", model], capture_output=True, text=True, check=False)
    check("what could not be run prints no JSON", done.returncode == 1 and done.stdout == "" and "not given" in done.stderr, done)
    wrong = ["--crop-fraction=2", "--fit=tight", "--color=pink", "--size=640", "--mean=1,2", "--scale=1,x,3"]
    said = call(RUN, *wrong, model, status=2)
    check("every wrong option of the picture is told, and nothing runs", all(option + ": expected" in said for option in wrong), said)


def test_inspect(folder, model):
    devices = {d["name"]: d for d in parsed(INSPECT)["devices"]}
    keys = {p["key"]: p for p in devices["CPU"]["properties"]}
    check("axon-inspect tells devices and their properties", "TEMPLATE" in devices and keys["PERF_COUNT"]["writable"] and
          keys["PERF_COUNT"]["value"] == "NO" and not keys["FULL_DEVICE_NAME"]["writable"], keys)
    one = parsed(INSPECT, "--device", "CPU")["devices"]
    check("and of one device the same", [d["name"] for d in one] == ["CPU"] and one[0]["properties"])
    rows = parsed(INSPECT, "--operators")["operators"]
    check("and operators", any(r["name"] == "Conv" and r["domain"] == "ai.onnx" and r["since"] == 1 for r in rows), rows[:3])
    check("and presets", "yunet" in parsed(INSPECT, "--presets")["presets"])
    seen = parsed(INSPECT, "-d", "TEMPLATE", model)
    check("and a model", seen["nodes"] == 3 and seen["operators"] == {"Div": 1, "Greater": 1, "Shape": 1} and
          seen["inputs"] == [{"name": "x", "type": "f32", "shape": [1, 3]}] and
          all(n["device"].startswith("TEMPLATE") for n in seen["devices"][0]["nodes"]), seen)
    file = os.path.join(folder, "model.axon")
    told = parsed(COMPILE, "-o", file, model)
    check("axon-compile tells file, size and time", told["file"] == file and told["bytes"] == os.path.getsize(file) and
          told["compile_ms"] > 0 and told["device"] == "CPU", told)
    check("and axon-inspect what is in the file", json.loads(call(INSPECT, "--json", file))["inputs"], told)


def test_bench(model):
    seen = parsed(BENCH, "-n", "20", "--profile", model)
    check("axon-bench tells figures, latencies and steps", seen["runs"] == 20 and len(seen["latencies_ms"]) == 20 and
          seen["latencies_ms"] == sorted(seen["latencies_ms"]) and seen["latencies_ms"][0] == seen["min_ms"] and
          len(seen["steps"]) >= 1 and seen["device"] == "CPU", seen)


def test_statuses(folder, model):
    missing = os.path.join(folder, "none.onnx")
    for tool in TOOLS:
        call(tool, "--help")
        call(tool, "--nonsense", status=2)
        call(tool, "one", "two", "three", "four", status=2)
        check(f"{os.path.basename(tool)} names the file that is not there", missing in call(tool, missing, status=1))
        call(tool, "--device", "NOSUCH", model, status=1)
    for tool in (RUN, BENCH, COMPILE):
        check(f"{os.path.basename(tool)} refuses a property without a value", "KEY=VALUE" in
              call(tool, "--config", "NONSENSE", model, status=2))
    for tool in TOOLS:
        name = os.path.basename(tool)
        page = open(os.path.join(SOURCE, "lib/tools/man", name + ".1.in"), encoding="utf-8").read()
        told = re.findall(r"^\.TP\n(\d)$", page.split(".SH EXIT STATUS")[1].split(".SH")[0], re.M)
        check(f"the man page of {name} tells the exit statuses", told == ["0", "1", "2"], told)
        check(f"and --json, as {name} --help does", "json" in page and "--json" in call(tool, "--help"))


def on_terminal(*command):
    """What a command writes on standard error where that is a terminal."""
    master, slave = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=slave, stdin=subprocess.DEVNULL) as process:
        os.close(slave)
        seen = b""
        try:
            while part := os.read(master, 65536):
                seen += part
        except OSError:  # the other end is closed
            pass
        process.wait()
    os.close(master)
    return seen.decode()


def test_progress(folder, model, x):
    for command in ([RUN, "-i", x, model], [RUN, "--suite", folder], [BENCH, "--time", "1", model],
                    [COMPILE, "-o", os.path.join(folder, "progress.axon"), model]):
        seen = on_terminal(*command)
        check(f"{os.path.basename(command[0])} {command[1]} shows progress on a terminal", "%" in seen, repr(seen))
        check("and leaves nothing of it", seen.endswith("\r\033[K"), repr(seen))


with tempfile.TemporaryDirectory() as tmp:
    model_file, good_set, bad_set, x_file = make_files(tmp)
    test_run(tmp, model_file, good_set, bad_set, x_file)
    test_inspect(tmp, model_file)
    test_bench(model_file)
    test_statuses(tmp, model_file)
    test_progress(tmp, model_file, x_file)
sys.exit(failures > 0)
