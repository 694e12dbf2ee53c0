#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares what libraries export with what their headers declare, both ways.
usage: symbols.py SOURCE KIND=LIBRARY..."""
import glob
import re
import subprocess
import sys

SOURCE = sys.argv[1]


def declared(*folders):
    """Functions and variables that headers declare; of G_DECLARE_*_TYPE, the function of the type."""
    names = set()
    for path in (p for folder in folders for p in glob.glob(f"{SOURCE}/{folder}/*.h")):
        text = re.sub(r"/\*.*?\*/", "", open(path, encoding="utf-8").read(), flags=re.S)
        text = re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.M)
        names |= {f"{name}_get_type" for name in re.findall(r"G_DECLARE_\w+ \(\w+,\s*(\w+)", text)}
        names |= set(re.findall(r"^ONNXIFI_FUNCTION \((\w+)", text, re.M))
        text = re.sub(r"^(?:\w+_API\n)?(?:G|ONNXIFI)_\w+(?: \([^()]*\))?", "", text, flags=re.M)
        while "{" in text:
            text = re.sub(r"\{[^{}]*\}", "", text)
        for statement in text.split(";"):
            if not re.match(r"\s*(typedef|struct|union|enum|extern \"C\")\b", statement):
                names |= set(re.findall(r"^[^(]*?\b(\w+)(?: \(|$)", statement.strip())[:1])
    return names


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in lines.splitlines()}
    return {name for name in names if name[0] not in "_."}  # those are of the toolchain


OPENMP = {"GOMP_barrier", "GOMP_parallel", "omp_get_max_threads", "omp_get_num_threads", "omp_get_thread_num", "omp_in_parallel"}
TILES = {f"pthreadpool_parallelize_{n}d_tile_2d{suffix}" for n in (2, 3, 4) for suffix in ("", "_with_uarch")}
POOL = TILES | {"pthreadpool_get_threads_count", "pthreadpool_parallelize_1d_tile_1d", "pthreadpool_parallelize_2d"}

# What a library exports, said as a sentence and as names.
KINDS = {
    "axon": ("the library exports what its headers declare",
             {n for n in declared("lib/include/axon", "lib/include/axon/plugin") if not n.startswith("onnx")}),
    "meta": ("the metas' library exports what its headers declare", declared("gst/include/gst/nn")),
    "onnxifi": ("the ONNXIFI library exports the standard's functions",
                {n for n in declared("lib/include/axon") if n.startswith("onnx")}),
    "device": ("a device exports its entry point and nothing else", {"axon_plugin_entry"}),
    "cpu": ("device CPU exports its entry point, and what oneDNN asks of OpenMP",
            OPENMP | {"axon_plugin_entry"}),
    "cpu-xnnpack": ("device CPU exports its entry point, and what oneDNN asks of OpenMP, XNNPACK of pthreadpool",
                    OPENMP | POOL | {"axon_plugin_entry"}),
    "extension": ("an extension exports its entry point and nothing else", {"axon_extension_entry"}),
    "elements": ("the elements export their descriptor and nothing else",
                 {"gst_plugin_nn_get_desc", "gst_plugin_nn_register"}),
}
failed = False
for kind, library in (argument.split("=", 1) for argument in sys.argv[2:]):
    sentence, wanted = KINDS[kind]
    found = exported(library)
    failed |= found != wanted
    print(f"{'ok' if found == wanted else 'not ok'}: {sentence} ({library})")
    for name in sorted(found - wanted):
        print(f"  {name} is exported, but no header declares it: is -fvisibility=hidden missing, or the declaration?")
    for name in sorted(wanted - found):
        print(f"  {name} is declared, but not exported: is its mark missing (AXON_API, GST_NN_API)?")
sys.exit(1 if failed else 0)
