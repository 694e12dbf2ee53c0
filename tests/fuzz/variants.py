#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Variants of the operators' own test models, each run by fuzz-model: on a device and by the reference, which must agree.

One to three changes each: all dimensions of one size get another, one attribute, all inputs of one type, the operator set,
a dimension more, one operand for another; and some inputs become constants. Most of what comes out is a model still, as
mutated bytes seldom are. Which changes is a matter of the seed, so a finding comes again; its file is kept, and named.
"""
import argparse
import glob
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, numpy_helper

SIZES = [0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 48, 64]
TYPES = [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16, TensorProto.INT8, TensorProto.UINT8,
         TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL]
DTYPES = {TensorProto.FLOAT: np.float32, TensorProto.FLOAT16: np.float16, TensorProto.DOUBLE: np.float64, TensorProto.INT8: np.int8,
          TensorProto.UINT8: np.uint8, TensorProto.INT16: np.int16, TensorProto.UINT16: np.uint16, TensorProto.INT32: np.int32,
          TensorProto.UINT32: np.uint32, TensorProto.INT64: np.int64, TensorProto.UINT64: np.uint64, TensorProto.BOOL: np.bool_}
LARGEST = 4096  # bytes of a model
CONSTANT = 800  # elements


def tensors(values):
    return [v.type.tensor_type for v in values if v.type.HasField("tensor_type")]


def change_size(model, pick):
    dims = [d for t in tensors(model.graph.input) for d in t.shape.dim]
    old = pick.choice(dims).dim_value if dims else 0
    new = pick.choice([*SIZES, max(0, old - 1), old + 1])
    for d in dims:
        if d.dim_value == old:
            d.dim_value = new


def change_attribute(model, pick):
    attributes = model.graph.node[0].attribute
    a = pick.choice(attributes) if attributes else None
    if a is None:
        return
    if a.type == AttributeProto.INT:
        a.i = pick.choice([-3, -2, -1, 0, 1, 2, 3, 4, a.i + 1, a.i - 1, 2 * a.i])
    elif a.type == AttributeProto.FLOAT:
        a.f = pick.choice([0, -1, 0.5, 2, 1e9, a.f * 2])
    elif a.type == AttributeProto.INTS and a.ints:
        a.ints[pick.randrange(len(a.ints))] = pick.choice([-1, 0, 1, 2, 3, 4, 5])


def change_type(model, pick):
    inputs = tensors(model.graph.input)
    old, new = pick.choice(inputs).elem_type if inputs else 0, pick.choice(TYPES)
    for t in inputs + tensors(model.graph.output):
        if t.elem_type == old:
            t.elem_type = new


def change_version(model, pick):
    if not model.graph.node[0].domain:
        model.opset_import[0].version = pick.randint(1, 27)


def add_dimension(model, pick):
    inputs, size, first = tensors(model.graph.input), pick.choice([1, 2, 3]), pick.random() < 0.5
    for t in inputs if pick.random() < 0.5 else [pick.choice(inputs)] if inputs else []:
        sizes = [d.dim_value for d in t.shape.dim]
        del t.shape.dim[:]
        for n in [size, *sizes] if first else [*sizes, size]:
            t.shape.dim.add().dim_value = n


def change_operand(model, pick):
    names = model.graph.node[0].input
    if len(names) > 1:
        names[pick.randrange(len(names))] = pick.choice([*names, ""])


CHANGES = [change_size] * 4 + [change_attribute] * 2 + [change_type, change_version, add_dimension, change_operand]


def values_for(tensor_type, sizes, numbers):
    """Small ones; None for a type that numpy lacks."""
    dtype = np.dtype(DTYPES.get(tensor_type.elem_type, object))
    if dtype.kind == "f":
        return numbers.normal(size=sizes).astype(dtype)
    return numbers.integers(0 if dtype.kind in "ub" else -3, 6, sizes).astype(dtype) if dtype.kind in "iub" else None


def make_constants(model, data, pick, numbers):
    """Those of the test, where they still fit, or random ones; shapes and indices mostly, now and then all."""
    everything, indices = pick.random() < 0.25, pick.random() < 0.7
    for value, given in list(zip(model.graph.input, data))[1:]:
        sizes = [d.dim_value for d in value.type.tensor_type.shape.dim]
        small = indices and given is not None and given.size <= 16 and given.dtype in (np.int32, np.int64)
        if not value.type.HasField("tensor_type") or not (everything or small) or np.prod(sizes, dtype=float) > CONSTANT:
            continue
        array = values_for(value.type.tensor_type, sizes, numbers)
        if array is not None and given is not None and given.shape == array.shape and given.dtype == array.dtype and pick.random() < 0.8:
            array = given
        if array is not None:
            model.graph.initializer.append(numpy_helper.from_array(array, value.name))


def read(path):
    """A model of one of the operator's tests, and its inputs; None: too large, or without a node."""
    model, data = onnx.load(path), []
    for i in range(len(model.graph.input)):
        tensor = pathlib.Path(path).parent / f"test_data_set_0/input_{i}.pb"
        try:
            data.append(numpy_helper.to_array(onnx.load_tensor(str(tensor))))
        except Exception:  # a sequence, or a type that this onnx lacks
            data.append(None)
    return (model, data) if model.graph.node and model.ByteSize() < LARGEST else None


def variants(base, number, pick, numbers):
    model, data = base
    for _ in range(number):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        for t in tensors(copy.graph.output):
            t.ClearField("shape")
        for _ in range(pick.randint(1, 3)):
            pick.choice(CHANGES)(copy, pick)
        make_constants(copy, data, pick, numbers)
        yield copy.SerializeToString()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fuzz", help="fuzz-model of a build")
    parser.add_argument("--data", default="/usr/share/libonnx-testdata/data/node", help="folder of tests (default: %(default)s)")
    parser.add_argument("--number", type=int, default=1, help="variants of each (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--without", action="append", default=[], help="an operator to leave out")
    a = parser.parse_args()
    pick, numbers = random.Random(a.seed), np.random.default_rng(a.seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="axon-variants-"))
    files = []
    for path in sorted(glob.glob(os.path.join(a.data, "*/model.onnx"))):
        base = read(path)
        for k, data in enumerate(variants(base, a.number, pick, numbers) if base else []):
            if base[0].graph.node[0].op_type not in a.without and len(data) < LARGEST:
                files.append(folder / f"{pathlib.Path(path).parent.name}-{k}")
                files[-1].write_bytes(data)
    if not files:
        print(f"{a.data}: no model; libonnx-testdata has them", file=sys.stderr)
        return 77
    run = subprocess.run([a.fuzz, *map(str, files)], env={**os.environ, "FUZZ_VERBOSE": "1"}, capture_output=True, text=True)
    seen = [line for line in run.stderr.splitlines() if line.startswith(str(folder))]
    found = pathlib.Path(seen[-1]) if run.returncode and seen else None
    if run.returncode:
        print("\n".join(line for line in (run.stdout + run.stderr).splitlines() if not line.startswith(str(folder))), file=sys.stderr)
        print(f"{found} ends it, after {len(seen) - 1} of {len(files)}", file=sys.stderr)
    for file in files:
        if file != found:
            file.unlink()
    if found is None:
        folder.rmdir()
    print(f"{len(seen)} of {len(files)} models")
    return 1 if run.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
