# SPDX-License-Identifier: LGPL-2.1-or-later
# One of the servers that people run, with an ONNX model by ONNX Runtime.
# usage: servers.py mlserver|pytriton|kserve MODEL.onnx PORT FOLDER
import json
import os
import sys

import numpy as np
import onnxruntime

kind, path, port, folder = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
TYPES = {"tensor(float)": ("FP32", np.float32), "tensor(uint8)": ("UINT8", np.uint8), "tensor(int64)": ("INT64", np.int64)}


def session():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def shape(port):
    return [d if isinstance(d, int) else -1 for d in port.shape]


def mlserver():
    s = session()
    ports = {key: [{"name": p.name, "datatype": TYPES[p.type][0], "shape": shape(p)} for p in list_]
             for key, list_ in (("inputs", s.get_inputs()), ("outputs", s.get_outputs()))}
    with open(os.path.join(folder, "settings.json"), "w") as f:
        json.dump({"debug": False, "http_port": port, "grpc_port": port + 1, "metrics_port": port + 2, "parallel_workers": 0,
                   "host": "127.0.0.1"}, f)
    with open(os.path.join(folder, "model-settings.json"), "w") as f:
        json.dump({"name": "m", "implementation": "runtime.Onnx", "parameters": {"uri": path}, **ports}, f)
    with open(os.path.join(folder, "runtime.py"), "w") as f:
        f.write("""import onnxruntime
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse
class Onnx(MLModel):
    async def load(self):
        self.session = onnxruntime.InferenceSession(self.settings.parameters.uri, providers=["CPUExecutionProvider"])
        return True
    async def predict(self, payload):
        feeds = {i.name: NumpyCodec.decode_input(i) for i in payload.inputs}
        values = self.session.run(None, feeds)
        return InferenceResponse(model_name=self.name, outputs=[NumpyCodec.encode_output(o.name, v)
                                 for o, v in zip(self.session.get_outputs(), values)])
""")
    os.environ["PYTHONPATH"] = folder
    os.execv(os.path.join(os.path.dirname(sys.executable), "mlserver"), ["mlserver", "start", folder])


def pytriton():
    from pytriton.model_config import ModelConfig, Tensor
    from pytriton.triton import Triton, TritonConfig
    s = session()

    def infer(requests):
        return [dict(zip([o.name for o in s.get_outputs()], s.run(None, dict(r.data)))) for r in requests]

    def tensors(ports):
        return [Tensor(name=p.name, dtype=TYPES[p.type][1], shape=tuple(shape(p))) for p in ports]

    config = TritonConfig(http_port=port, grpc_port=port + 1, metrics_port=port + 2, http_address="127.0.0.1")
    with Triton(config=config) as triton:
        triton.bind(model_name="m", infer_func=infer, inputs=tensors(s.get_inputs()), outputs=tensors(s.get_outputs()),
                    config=ModelConfig(batching=False))
        triton.serve()


def kserve():
    from kserve import InferOutput, InferResponse, Model, ModelServer
    from kserve.utils.utils import generate_uuid
    s = session()

    class Onnx(Model):
        def load(self):
            self.ready = True
            return True

        async def get_input_types(self):
            return [{"name": p.name, "datatype": TYPES[p.type][0], "shape": shape(p)} for p in s.get_inputs()]

        async def get_output_types(self):
            return [{"name": p.name, "datatype": TYPES[p.type][0], "shape": shape(p)} for p in s.get_outputs()]

        def predict(self, payload, headers=None, response_headers=None):
            values = s.run(None, {i.name: i.as_numpy() for i in payload.inputs})
            outputs = []
            for o, v in zip(s.get_outputs(), values):
                out = InferOutput(o.name, list(v.shape), TYPES[o.type][0])
                out.set_data_from_numpy(v, binary_data=payload.use_binary_outputs)
                outputs.append(out)
            return InferResponse(payload.id or generate_uuid(), "m", outputs, use_binary_outputs=payload.use_binary_outputs,
                                 requested_outputs=payload.request_outputs)

    model = Onnx("m")
    model.load()
    ModelServer(http_port=port, grpc_port=port + 1, enable_grpc=False).start([model])


{"mlserver": mlserver, "pytriton": pytriton, "kserve": kserve}[kind]()
