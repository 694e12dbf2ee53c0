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
    presets = parsed(INSPECT, "--presets")["presets"]
    check("and presets, a line each", "yunet" in presets and call(INSPECT, "--presets").split("\n") == [*presets, ""], presets)
    seen = parsed(INSPECT, "-d", "TEMPLATE", model)
    check("and a model", seen["nodes"] == 3 and seen["operators"] == {"Div": 1, "Greater": 1, "Shape": 1} and
          seen["inputs"] == [{"name": "x", "type": "f32", "shape": [1, 3]}] and
          all(n["device"].startswith("TEMPLATE") for n in seen["devices"][0]["nodes"]), seen)
    file = os.path.join(folder, "model.axon")
    told = parsed(COMPILE, "-o", file, model)
    check("axon-compile tells file, size and time", told["file"] == file and told["bytes"] == os.path.getsize(file) and
          told["compile_ms"] > 0 and told["device"] == "CPU", told)
    stored = json.loads(call(INSPECT, "--json", file))
    check("and axon-inspect what is in the file", stored["inputs"], told)
    lines = call(INSPECT, file).split("\n")
    check("a line each: first inputs and outputs, then what else is said of it", lines[0].split() == ["input", "x", "f32[1,3]"] and
          [line.split()[0] for line in lines[:-1]].count("output") == len(stored["outputs"]) and
          [line.split()[0] for line in lines[1 + len(stored["outputs"]):-1]] == [k for k in stored if k not in ("inputs", "outputs")],
          lines)


def save_model(path, nodes, inputs, outputs, constants=(), metadata=()):
    """Of rows of floats: (name, shape) each."""
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph([helper.make_node(op, i, o, name=o[0]) for op, i, o in nodes], "small", [value(*row) for row in inputs],
                              [value(*row) for row in outputs], [numpy_helper.from_array(np.array(v), k) for k, v in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    helper.set_model_props(model, dict(metadata))
    onnx.save(model, path)


def save_set(folder, number, **tensors):
    """A folder of expected outputs: input_0=..., output_0=..."""
    data = os.path.join(folder, f"test_data_set_{number}")
    os.makedirs(data, exist_ok=True)
    for name, value in tensors.items():
        with open(os.path.join(data, name + ".pb"), "wb") as f:
            f.write(numpy_helper.from_array(np.float32([value])).SerializeToString())
    return data


def told(*command, status=0):
    """Standard output of a command that ends so."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == status else f"status {done.returncode}: {done.stdout}{done.stderr}"


def same(sentence, seen, expected):
    check(sentence, seen == expected, f"{seen!r}, expected {expected!r}")


def test_suite(folder):
    """Exit statuses of suites of what passes, of what does not, and of nothing."""
    for name, op, second in (("a", "Relu", 2), ("b", "Relu", 3), ("c", "NoSuchOperator", 2)):
        case = os.path.join(folder, "suite", name)
        os.makedirs(case)
        save_model(os.path.join(case, "model.onnx"), [(op, ["x"], ["y"])], [("x", [1, 2])], [("y", [1, 2])])
        save_set(case, 0, input_0=[-1, 1], output_0=[0, 1])
        save_set(case, 1, input_0=[-2, 2], output_0=[0, second])
    suite = os.path.join(folder, "suite")
    passes, differs, lacks = (os.path.join(suite, name) for name in "abc")
    same("a suite in which all pass ends with 0", told(RUN, "--suite", passes), f"pass {passes}\n1 passed, 0 failed, 0 skipped\n")
    seen = told(RUN, "--suite", suite, status=1).split("\n")
    same("cases are told in the order of their names, with what differs, in any of their sets, and are counted",
         [seen[0], seen[1], seen[2].split(": ")[0], *seen[3:]], [f"pass {passes}", f'FAIL {differs}: output "y" differs: 1 of 2 off, largest '
         "difference 1 of 3 at 1: expected 3, got 2", f"skip {lacks}", "1 passed, 1 failed, 1 skipped", ""])
    seen = json.loads(told(RUN, "--json", "--suite", suite, status=1))
    same("JSON says so, too", ([c["outcome"] for c in seen["cases"]], seen["passed"], seen["failed"], seen["skipped"]),
         (["passed", "failed", "skipped"], 1, 1, 1))
    check("a suite in which nothing passed ends with 1", told(RUN, "--suite", lacks, status=1).endswith("0 passed, 0 failed, 1 skipped\n"))
    os.makedirs(os.path.join(folder, "empty"))
    same("and so does one without cases", told(RUN, "--suite", os.path.join(folder, "empty"), status=1), "0 passed, 0 failed, 0 skipped\n")


def compared(model, expected, *options, given=(1, -2, 3, -4)):
    """What is told of the output, and whether it agrees."""
    data = save_set(os.path.dirname(model), 0, input_0=given, output_0=expected)
    done = subprocess.run([RUN, "--json", *options, "--expect", data, model], capture_output=True, text=True, check=False)
    seen = json.loads(done.stdout)["outputs"][0]
    check("the exit status tells whether the outputs agree", done.returncode == (0 if seen["agrees"] else 1), done)
    return seen["agrees"], seen["report"]


def test_comparison(folder):
    """Tolerances are reached, and not passed; binary fractions are exact."""
    model = os.path.join(folder, "same.onnx")
    save_model(model, [("Identity", ["x"], ["y"])], [("x", [1, 4])], [("y", [1, 4])])
    same("an output that is as expected has no difference", compared(model, [1, -2, 3, -4]),
         (True, "0 of 4 off, largest difference 0 of 4"))
    same("the largest difference is told, and where it is", compared(model, [1, -2, 3.5, -4.25]),
         (False, "2 of 4 off, largest difference 0.5 of 4.25 at 2: expected 3.5, got 3"))
    same("an output of another shape differs", compared(model, [1, -2, 3]), (False, "expected f32[1,3] ..., got f32[1,4] ..."))
    same("--rtol is of each element", [compared(model, [1, -2, 2, -3.5], "--rtol", rtol, "--atol", "0") for rtol in ("0.5", "0.25")],
         [(True, "0 of 4 off, largest difference 1 of 3.5"), (False, "1 of 4 off, largest difference 1 of 3.5 at 2: expected 2, got 3")])
    same("--atol is of the largest", [compared(model, [2, -2, 3, -4], "--rtol", "0", "--atol", atol)[0] for atol in ("0.25", "0.125")], [True, False])
    same("both add up", [compared(model, [1, -2, 3, -8], "--rtol", "0.25", "--atol", atol)[0] for atol in ("0.25", "0.125")], [True, False])
    same("tolerances are small where none are given", [compared(model, [1, -2, 3, -4 - d], given=(1, -2, 3, -4))[0] for d in (0.003, 0.006)],
         [True, False])
    # Symptom: where infinity was expected, any number agreed.
    same("infinity and what is no number agree with themselves only", [compared(model, [np.nan, np.inf, 0, 0], given=given)[0] for given in
                                                        ((np.nan, np.inf, 0, 0), (np.nan, 1, 0, 0), (1, np.inf, 0, 0), (np.nan, -np.inf, 0, 0))],
         [True, False, False, False])
    model = os.path.join(folder, "narrow.onnx")
    save_model(model, [("QuantizeLinear", ["x", "scale", "zero"], ["q"]), ("DequantizeLinear", ["q", "scale", "zero"], ["y"])],
               [("x", [1, 100])], [("y", [1, 100])], [("scale", np.float32(1)), ("zero", np.uint8(0))])
    given = [100, 99, *[50] * 98]
    for wrong, best, expected in ((1, given[:2], (True, "99.000 % within 2 % of 100, largest difference 5 of 100")),
                                  (2, given[:2], (False, "98.000 % within 2 % of 100, largest difference 5 of 100 at 98: expected 55, got 50")),
                                  (0, [99, 100], (False, "100.000 % within 2 % of 100, largest difference 1 of 100 at 0: expected 99, got 100")),
                                  (0, [102, 99], (True, "100.000 % within 2 % of 102, largest difference 2 of 102"))):
        same("of a quantised model 99 % are within 2 %, and the best class is the same",
             compared(model, [*best, *[50] * (98 - wrong), *[55] * wrong], given=given), expected)
    same("unless a tolerance is given", compared(model, [*given[:2], *[50] * 96, 55, 55], "--rtol", "0.125", given=given),
         (True, "0 of 100 off, largest difference 5 of 100"))


def test_outputs(folder):
    """Of a model of two inputs and two outputs, longer than what is shown."""
    model, out = os.path.join(folder, "pair.onnx"), os.path.join(folder, "out")
    save_model(model, [("Add", ["a", "b"], ["s"]), ("Sub", ["a", "b"], ["d"])], [("a", [1, 9]), ("b", [1, 9])], [("s", [1, 9]), ("d", [1, 9])])
    files = [os.path.join(folder, name) for name in ("count.npy", "ones.npy")]
    for file, values in zip(files, (np.arange(9), np.ones(9))):
        np.save(file, np.float32([values]))
    first, second = (["-i", file] for file in files)
    same("eight values of each output are told", told(RUN, *first, *second, model),
         "s f32[1,9] 1 2 3 4 5 6 7 8 ...\nd f32[1,9] -1 0 1 2 3 4 5 6 ...\n")
    same("--print tells all, and inputs have names", told(RUN, "--print", "-i", f"b={files[0]}", *second, model),
         "s f32[1,9] 1 2 3 4 5 6 7 8 9\nd f32[1,9] 1 0 -1 -2 -3 -4 -5 -6 -7\n")
    same("in whatever order", told(RUN, "--print", "-i", f"b={files[1]}", "-i", f"a={files[0]}", model),
         "s f32[1,9] 1 2 3 4 5 6 7 8 9\nd f32[1,9] -1 0 1 2 3 4 5 6 7\n")
    same("so does JSON, and how many there are",
         [[(o["elements"], len(o["values"])) for o in parsed(RUN, *first, *second, *more, model)["outputs"]] for more in ([], ["--print"])],
         [[(9, 8)] * 2, [(9, 9)] * 2])
    told(RUN, "--save", out, *first, *second, model)
    same("--save writes each output", [np.load(os.path.join(out, f"output_{i}.npy")).tolist() for i in range(2)],
         [[list(range(1, 10))], [list(range(-1, 8))]])
    for inputs, said in (([*first], 'input "b" is not given'), ([*first, *first, *second], "there is no such input"),
                         (["-i", f"b={files[0]}", "-i", f"b={files[1]}"], "there is no such input")):
        check(f"{len(inputs) // 2} inputs that do not fit are refused", said in call(RUN, *inputs, model, status=1))
    for option in ("--crop-fraction=0", "--size=0x5", "--size=5x0", "--size=1x2x3", "--mean=1,2,3,4", "--scale=", "--fit=crop,"):
        check(f"{option} is refused", option.split("=")[0] + "=" in call(RUN, option, model, status=2))
    check("what pictures may be like at most and at least is no wrong option", "is not given" in call(
        RUN, "--crop-fraction=1", "--size=1x1", "--mean=1,2,3", "--scale=4", "--fit=crop", "--color=gray", model, status=1))


def test_model_told(folder):
    model = os.path.join(folder, "picture.onnx")
    save_model(model, [("Conv", ["x", "w"], ["c"]), ("Conv", ["c", "w"], ["d"]), ("Relu", ["d"], ["y"])], [("x", [1, 1, 8, 8])],
               [("y", [1, 1, 4, 4])], [("w", np.ones((1, 1, 3, 3), np.float32))],
               {"axon.strides": "8,16,32", "axon.labels": "a,b,c,d", "axon.mean": "0.5,1"})
    seen = told(INSPECT, "-d", "TEMPLATE", model)
    same("axon-inspect tells a model", seen[:seen.find("To run it")].split("\n"),
         ["small: 3 nodes, 9 parameters", "  input    x f32[1,1,8,8]", "  output   y f32[1,1,4,4]", "      2 Conv", "      1 Relu",
          "What its pictures must be like, and what its outputs mean:", "  labels       4: a,b,c,..." + 33 * " " + "metadata",
          "  color        gray" + 41 * " " + "graph", "  mean         0.5,1" + 40 * " " + "metadata",
          "  strides      8,16,32" + 38 * " " + "metadata", ""])
    check("and what runs where", seen.endswith("  Relu                     y" + 40 * " " + "TEMPLATE.0\n  TEMPLATE takes 3 of 3 nodes\n"), seen)
    seen = parsed(INSPECT, "-d", "TEMPLATE", model)
    same("JSON says so, too", (seen["nodes"], seen["parameters"], seen["quantized"], seen["operators"], seen["description"]["strides"]),
         (3, 9, False, {"Conv": 2, "Relu": 1}, {"value": "8,16,32", "source": "metadata", "guess": False}))
    rows = {(r["domain"], r["name"], r["since"]): r["until"] for r in parsed(INSPECT, "--operators")["operators"]}
    same("operators have the opsets that they are of", [rows["ai.onnx", "Add", 1], rows["ai.onnx", "Add", 7]], [6, None])
    page = told(INSPECT, "--operators", "--markdown")
    names = re.findall(r"^\| ([\w.]+) \| (\d+) ", page, re.M)
    check("and a page, in order", "\n| Abs | 1 on | numeric |" in page and "\n| Add | 1 to 6 | numeric |" in page and
          [n for n in names if "." not in n[0]] == sorted((n for n in names if "." not in n[0]), key=lambda n: (n[0], int(n[1]))), page[:2000])


def test_bench(model):
    seen = parsed(BENCH, "-n", "20", "--profile", model)
    check("axon-bench tells figures, latencies and steps", seen["runs"] == 20 and len(seen["latencies_ms"]) == 20 and
          seen["latencies_ms"] == sorted(seen["latencies_ms"]) and seen["latencies_ms"][0] == seen["min_ms"] and
          len(seen["steps"]) >= 1 and seen["device"] == "CPU", seen)
    same("and nothing else", sorted(seen), sorted(
        ["model", "device", "load_ms", "compile_ms", "first_ms", "median_ms", "p95_ms", "p99_ms", "min_ms", "max_ms", "fps", "runs", "cpu_ms",
         "max_rss_kb", "base_rss_kb", "inputs", "latencies_ms", "peak_f32", "peak_int8", "peak_memory", "threads", "steps"]))
    at = seen["latencies_ms"]
    same("percentiles are of the latencies", [seen[key] for key in ("min_ms", "median_ms", "p95_ms", "p99_ms", "max_ms")],
         [at[0], at[10], at[18], at[19], at[19]])
    seen = parsed(BENCH, "-n", "1500", "--nireq", "3", model)
    check("of many runs JSON has 1001, from the fastest to the slowest", seen["runs"] == 1500 and len(seen["latencies_ms"]) == 1001 and
          [seen["latencies_ms"][i] for i in (0, -1)] == [seen["min_ms"], seen["max_ms"]], seen["latencies_ms"][-5:])
    seen = parsed(BENCH, "-n", "10", "--interval", "20", model)
    check("runs begin at their times", seen["runs"] == 10 and 5 < seen["fps"] <= 50, seen["fps"])
    check("and take less processor time", 0 < seen["cpu_ms"] < 20, seen["cpu_ms"])
    seen = parsed(BENCH, "--time", "0.5", "--interval", "20", model)
    check("as many runs as fit the time", 10 <= seen["runs"] <= 25, seen["runs"])
    check("memory at its peak is more than before the model", 1000 < seen["base_rss_kb"] < seen["max_rss_kb"], seen)


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
    for test in (test_suite, test_comparison, test_outputs, test_model_told):
        test(tempfile.mkdtemp(dir=tempfile.mkdtemp(dir=tmp)))
    test_bench(model_file)
    test_statuses(tmp, model_file)
    test_progress(tmp, model_file, x_file)
sys.exit(failures > 0)
