# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one model on one engine, each time in a process of its own, and keeps what the others on the machine do out of
the figures as far as it can: a turn during which they took much is repeated."""
import glob
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# What a level of ours is called by oneDNN, which OpenVINO contains.
ONEDNN_ISA = {"SSE41": "SSE41", "AVX2": "AVX2", "AVX2_VNNI": "AVX2_VNNI", "AVX512": "AVX512_CORE",
              "AVX512_VNNI": "AVX512_CORE_VNNI", "AVX512_FP16": "AVX512_CORE_FP16"}
TITLES = {"axon": "Axon", "onnxruntime": "ONNX Runtime", "onnxruntime exact": "ONNX Runtime, exact",
          "onnxruntime passive": "ONNX Runtime, no spinning", "openvino": "OpenVINO"}
PACKAGES = ["numpy", "onnx", "onnxruntime", "openvino", "opencv-python-headless"]
QUIET, TRIES = 0.06, 4  # of the machine, that others may take in a turn


def use_peers(folder):
    """Goes on in a Python that has the peers, which are installed into @folder the first time."""
    python = os.path.join(folder, "bin/python")
    if os.environ.get("AXON_BENCH_PEERS") == folder:
        return
    if not os.path.exists(os.path.join(folder, "complete")):
        print(f"installing {', '.join(PACKAGES)} into {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        open(os.path.join(folder, "complete"), "w", encoding="ascii").close()
    os.execve(python, [python, *sys.argv], dict(os.environ, AXON_BENCH_PEERS=folder))


def memory(pid, field):
    """Kilobytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(field))


def busy_ticks():
    with open("/proc/stat", encoding="ascii") as f:
        v = [int(x) for x in f.readline().split()[1:]]
    return v[0] + v[1] + v[2] + v[5] + v[6] + v[7]


def own_ticks():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (r.ru_utime + r.ru_stime) * os.sysconf("SC_CLK_TCK")


class Engines:
    """@build: a build tree of ours; @isa: caps everybody, or None; @work: where inputs and caches are kept."""

    def __init__(self, build, work, isa=None, patient=True):
        self.build, self.work, self.isa, self.patient = os.path.abspath(build), work, isa, patient
        os.makedirs(os.path.join(work, "inputs"), exist_ok=True)
        self.cap = self.capped_peers() if isa else {}
        self.exception = "" if "LD_PRELOAD" in self.cap else " (of the peers only the oneDNN within OpenVINO)"

    def tool(self, name):
        return os.path.join(self.build, "lib/tools", name)

    def capped_peers(self):
        """Environment in which peers see the smaller processor: whole by cpuid.c, or the oneDNN within OpenVINO only."""
        library = os.path.join(self.work, "cpuid.so")
        env = {"LD_PRELOAD": library, "AXON_BENCH_LEVEL": self.isa}
        made = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, os.path.join(HERE, "cpuid.c")], check=False)
        if made.returncode == 0 and subprocess.run([sys.executable, "-c", ""], check=False,
                                                   env=dict(os.environ, **env)).returncode == 0:
            return env
        return {"ONEDNN_MAX_CPU_ISA": ONEDNN_ISA[self.isa], "DNNL_MAX_CPU_ISA": ONEDNN_ISA[self.isa]}

    def environment(self, ours):
        """Ours finds the plugins of the build tree."""
        env = dict(os.environ, LC_ALL="C.UTF-8", GST_PLUGIN_PATH_1_0=os.path.join(self.build, "gst"),
                   GST_REGISTRY_1_0=os.path.join(self.work, "registry.bin"))
        if self.isa:
            env.update({"AXON_CPU_ISA": self.isa} if ours else self.cap)
        plugins = glob.glob(os.path.join(self.build, "plugins/*/libaxon-*.so"))
        env.setdefault("AXON_PLUGIN_PATH", ":".join(sorted({os.path.dirname(p) for p in plugins})))
        return env

    def run(self, command, ours, busy=0, env=None):
        """Standard output, or None where the engine failed; @busy processes run beside."""
        out = None
        for _ in range(TRIES if self.patient else 1):
            others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
            ticks, own, begin = busy_ticks(), own_ticks(), time.time()
            out = subprocess.run(command, capture_output=True, text=True, check=False, env=env or self.environment(ours))
            took = time.time() - begin
            for other in others:
                other.kill()
                other.wait()
            # What ran beside us is among our children only now that it was waited for.
            strangers = busy_ticks() - ticks - (own_ticks() - own)
            if strangers < QUIET * took * os.sysconf("SC_CLK_TCK") * os.cpu_count():
                break
            time.sleep(1)
        if out.returncode:
            print(f"{' '.join(command[:1] + command[-1:])}: {out.stderr.strip()[-300:]}", file=sys.stderr)
        return None if out.returncode else out.stdout

    def inputs(self, model, name):
        """(file, shapes by name): what axon-bench chooses, for everybody alike; None where it cannot run the model."""
        import numpy as np
        file, note = (os.path.join(self.work, "inputs", name + end) for end in (".npz", ".json"))
        if not os.path.exists(note) or os.path.getmtime(note) < os.path.getmtime(model):
            out = self.run([self.tool("axon-bench"), "--json", "--time", "0", "--niter", "1", model], True)
            if out is None:
                return None
            chosen = json.loads(out)["inputs"]
            np.savez(file, **{i["name"]: array_of(np, model, k, i) for k, i in enumerate(chosen)})
            with open(note, "w", encoding="utf-8") as f:
                json.dump(chosen, f)
        with open(note, encoding="utf-8") as f:
            return file, {i["name"]: i["shape"] for i in json.load(f)}

    def axon(self, model, name, threads, seconds, interval=0, busy=0, warmup=0, extra=()):
        given = self.inputs(model, name)
        command = [self.tool("axon-bench"), "--json", "--time", str(seconds), "--config",
                   f"INFERENCE_NUM_THREADS={threads}", *(["--interval", str(interval)] if interval else []),
                   *(["--warmup", str(warmup)] if warmup else []), *extra]
        for shape in given[1].values() if given else []:
            command += ["--shape", ",".join(map(str, shape))]
        out = self.run([*command, model], True, busy) if given else None
        if out is None:
            return None
        r = json.loads(out)
        load = r["load_ms"] + r["compile_ms"]
        return dict(r, load_ms=load, ready_ms=load + r["first_ms"], rss_kb=r["max_rss_kb"] - r["base_rss_kb"])

    def peer(self, engine, model, name, threads, seconds, interval=0, busy=0, **more):
        given = self.inputs(model, name)
        if given is None:
            return None
        job = dict(more, engine=engine, model=model, inputs=given[0], threads=threads, seconds=seconds, interval=interval)
        out = self.run([sys.executable, os.path.join(HERE, "child.py"), json.dumps(job)], False, busy)
        return json.loads(out.strip().splitlines()[-1]) if out else None

    def measure(self, engine, *args, **kwargs):
        """None where the engine does not take the model."""
        return self.axon(*args, **kwargs) if engine == "axon" else self.peer(engine, *args, **kwargs)

    def results(self, engine, model, name, device="CPU", config=()):
        """Arrays of one run."""
        import numpy as np
        file, _ = self.inputs(model, name)
        with tempfile.TemporaryDirectory() as tmp, np.load(file) as arrays:
            if engine != "axon":
                out = self.peer(engine, model, name, 1, 0, save=f"{tmp}/out.npz") or os.path.exists(f"{tmp}/out.npz")
                return list(np.load(f"{tmp}/out.npz").values()) if out else None
            command = [self.tool("axon-run"), "--device", device]
            for pair in config:
                command += ["--config", pair]
            for i, key in enumerate(arrays.files):
                np.save(f"{tmp}/in{i}.npy", arrays[key])
                command += ["--input", f"{key}={tmp}/in{i}.npy"]
            os.mkdir(f"{tmp}/out")
            self.run([*command, "--save", f"{tmp}/out", model], True)
            return [np.load(f"{tmp}/out/output_{i}.npy") for i in range(len(os.listdir(f"{tmp}/out")))]


def array_of(np, model, index, chosen):
    """The values of test_data_set_0 where axon-bench took those, or random ones."""
    import onnx
    data = os.path.join(os.path.dirname(model), "test_data_set_0", f"input_{index}.pb")
    if "test_data_set_0" in chosen["values"]:
        return onnx.numpy_helper.to_array(onnx.load_tensor(data))
    rand, shape = np.random.default_rng(1), chosen["shape"]
    types = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i64": np.int64, "i32": np.int32, "u8": np.uint8,
             "i8": np.int8, "bool": np.bool_}
    dtype = types[chosen["type"]]
    if np.issubdtype(dtype, np.floating):
        return rand.uniform(-1, 1, shape).astype(dtype)
    if chosen["values"] in ("0", "1"):
        return np.full(shape, int(chosen["values"]), dtype)
    return rand.integers(0, 2 if dtype is np.bool_ else 100, shape).astype(dtype)
