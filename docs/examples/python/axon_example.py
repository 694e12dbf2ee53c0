#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Axon from Python: read, query, compile, infer, run asynchronously, export and import.
usage: axon_example.py MODEL.onnx [DEVICE]"""
import struct
import sys
import tempfile
import threading

import gi

gi.require_version("Axon", "1.0")
from gi.repository import Axon, Gio, GLib


def output_of(request: Axon.InferRequest) -> Axon.Tensor:
    tensor = request.get_output_tensor(0)
    assert tensor is not None, "the output is a tensor, no sequence"
    return tensor


path = sys.argv[1]
device = sys.argv[2] if len(sys.argv) > 2 else "CPU"
core = Axon.Core.get_default()
print("devices:", ", ".join(core.get_available_devices()))

model = core.read_model(path, None)
taken, reasons = core.query_model(model, device, None, None)
print(f"{device} takes {len(taken)} of {model.get_n_nodes()} nodes")
for node, why in reasons.items():
    print(f"  not {node}: {why}")

config = GLib.Variant("a{sv}", {"PERF_COUNT": GLib.Variant("b", True)})
compiled = core.compile_model(model, device, config, None, None, None)
print("requests:", compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS").unpack())

shape = compiled.get_input_shape(0)
dims = [max(1, shape.dims[i]) for i in range(shape.rank)]
n = 1
for d in dims:
    n *= d
values = GLib.Bytes.new(struct.pack(f"{n}f", *[(i % 255) / 255 for i in range(n)]))
tensor = Axon.Tensor.new_from_bytes(Axon.DType.F32, shape, values)

request = compiled.create_infer_request()
request.set_input_tensor(0, tensor)
request.infer()
first = output_of(request)
print("output:", first.to_string(5))
print("slowest step:", max(request.dup_profiling().unpack(), key=lambda row: row[3])[0])

graph = compiled.get_runtime_model()
print("runs as:", ", ".join(f"{node['type']} by {node['exec-type']}" for node in graph.dup_nodes().unpack()[:3]))

done = threading.Event()
request.set_callback(lambda r, error: done.set())
request.start_async()
request.wait()
assert done.is_set(), "wait returns after the callback"

with tempfile.NamedTemporaryFile(suffix=".axon") as file:
    compiled.export_to_file(file.name)
    imported = core.import_model_from_file(file.name, None, None, None, None, None)
    again = imported.create_infer_request()
    again.set_input_tensor(0, tensor)
    again.infer()
    assert output_of(again).to_string(1000) == first.to_string(1000)
    print("exported, imported, same result")

try:
    core.compile_model(model, "CPV", None, None, None, None)
except GLib.Error as error:
    print("error:", error.message.split(":")[0])
