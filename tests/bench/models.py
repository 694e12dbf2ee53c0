#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What device CPU is measured on: the shared models and families, the architectures of the shared mkmodels.py, and
further ones (nets/) with operators that those lack, with random weights from a fixed seed. Models that have to be made
are made once, into a folder of the bench.

Needs onnx and numpy, as peers.py. usage: models.py [--data DIR] [--work DIR]"""
import argparse
import glob
import os
import subprocess
import sys

import numpy as np
import onnx

from nets import attention, builder, classify, dense, detect  # noqa: F401 (their functions are the list)

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("AXON_TEST_DATA") or os.path.join(HERE, "../../../shared")
WORK = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "axon-bench")
QUANTISED = {"QuantizeLinear", "DequantizeLinear", "QLinearConv", "ConvInteger", "MatMulInteger"}
ARCHITECTURES = ["alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet",
                 "vgg19", "mobilenetv2", "yolov5n", "yolov8n"]


def name_of(path):
    return os.path.basename(os.path.dirname(path)) if path.endswith("/model.onnx") else os.path.basename(path)[:-5]


def shared(data):
    return [p for kind in ("models", "families") for p in sorted(glob.glob(os.path.join(data, kind, "*/model.onnx")))]


def is_quantised(path):
    return any(node.op_type in QUANTISED for node in onnx.load(path, load_external_data=False).graph.node)


def architectures(data, work):
    """What mkmodels.py makes of the light models that come with the Python package onnx."""
    folder = os.path.join(work, "models")
    paths = [os.path.join(folder, name + ".onnx") for name in ARCHITECTURES]
    if not all(map(os.path.exists, paths)):
        light = os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/light")
        os.makedirs(folder, exist_ok=True)
        if not os.path.exists(os.path.join(folder, "light")):
            os.symlink(light, os.path.join(folder, "light"))
        subprocess.run([sys.executable, os.path.abspath(os.path.join(data, "tools/mkmodels.py"))], cwd=work, check=True,
                       stdout=subprocess.DEVNULL)
    return paths


def age_of_sources():
    return max(os.path.getmtime(p) for p in glob.glob(os.path.join(HERE, "nets/*.py")))


def further(work):
    folder, paths = os.path.join(work, "nets"), []
    os.makedirs(folder, exist_ok=True)
    for name, make in sorted(builder.MAKERS.items()):
        path = os.path.join(folder, name + ".onnx")
        if not os.path.exists(path) or os.path.getmtime(path) < age_of_sources():
            onnx.save(make(name), path)
        paths.append(path)
    return paths


def floats(data=DATA, work=WORK):
    return [p for p in shared(data) if not is_quantised(p)] + architectures(data, work) + further(work)


def quantised(data=DATA):
    return [p for p in shared(data) if is_quantised(p)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--data", default=DATA)
    p.add_argument("--work", default=WORK)
    a = p.parse_args()
    for kind, paths in (("float", floats(a.data, a.work)), ("int8", quantised(a.data))):
        for path in paths:
            graph = onnx.load(path, load_external_data=False).graph
            parameters = sum(int(np.prod(i.dims)) for i in graph.initializer)
            print(f"{kind:6} {name_of(path):32} {len(graph.node):5} nodes {parameters / 1e6:8.2f} M parameters  {path}")


if __name__ == "__main__":
    main()
