# SPDX-License-Identifier: LGPL-2.1-or-later
"""Collects the nodes of a network. Tensors are names; how many channels each has is remembered."""
import zlib

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, shape_inference

MAKERS = {}


def network(**kwargs):
    """Decorator: puts a function, which gets a Net, into MAKERS by its name (dashes for underscores)."""
    def add(function):
        MAKERS[function.__name__.replace("_", "-")] = lambda name: made(name, function, **kwargs)
        return function
    return add


def made(name, function, opset=17):
    net = Net(name, opset)
    net.outputs = function(net)
    return net.model()


class Net:
    def __init__(self, name, opset):
        self.name, self.opset = name, opset
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        self.nodes, self.constants, self.inputs, self.outputs, self.channels = [], [], [], None, {}

    def unique(self, word):
        return f"{word}_{len(self.nodes) + len(self.constants)}"

    def input(self, name, *shape, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        self.channels[name] = shape[1] if len(shape) > 2 else shape[-1]
        return name

    def constant(self, value, dtype=np.float32):
        name = self.unique("c")
        self.constants.append(numpy_helper.from_array(np.array(value, dtype, order="C"), name))
        return name

    def ints(self, *values):
        return self.constant(values, np.int64)

    def weights(self, *shape, gain=2.0, fan=None):
        fan = fan or int(np.prod(shape[1:]))
        return self.constant(self.random.standard_normal(shape) * np.sqrt(gain / fan))

    def near(self, value, *shape):
        return self.constant(value + self.random.uniform(-0.1, 0.1, shape))

    def op(self, kind, *inputs, channels=None, outputs=1, **attributes):
        """The output's name, or a list of them; as many channels as the first input if not told."""
        names = [self.unique(kind.lower()) + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=self.unique("n"), **attributes))
        for name in names:
            self.channels[name] = channels or self.channels.get(inputs[0] if inputs else "", 0)
        return names[0] if outputs == 1 else names

    # activations, as exporters write them
    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def gelu(self, x):
        half = self.op("Erf", self.op("Div", x, self.constant(np.sqrt(2))))
        return self.op("Mul", self.op("Mul", x, self.op("Add", half, self.constant(1))), self.constant(0.5))

    def mish(self, x):
        return self.op("Mul", x, self.op("Tanh", self.op("Softplus", x)))

    def relu6(self, x):
        return self.op("Clip", x, self.constant(0), self.constant(6))

    def prelu(self, x):
        return self.op("PRelu", x, self.near(0.25, self.channels[x], 1, 1))

    def hardswish(self, x):
        """As PyTorch exports it before opset 14."""
        return self.op("Div", self.op("Mul", x, self.relu6(self.op("Add", x, self.constant(3)))), self.constant(6))

    def activation(self, x, kind):
        """@kind: an operator, or a method of this class, or None."""
        if kind is None:
            return x
        if kind.islower():
            return getattr(self, kind)(x)
        return self.op(kind, x, **({"alpha": 0.1} if kind == "LeakyRelu" else {}))

    # layers
    def conv(self, x, out, kernel=3, stride=1, act="Relu", groups=1, dilation=1, pads=None, bias=True, rank=2):
        """@kernel: a number, or one per dimension. Padded so that stride 1 keeps the size."""
        sizes = [kernel] * rank if isinstance(kernel, int) else list(kernel)
        pads = [dilation * (k - 1) // 2 for k in sizes] * 2 if pads is None else pads
        w = self.weights(out, self.channels[x] // groups, *sizes, gain=2.0 if act else 1.0)
        inputs = [x, w] + ([self.near(0, out)] if bias else [])
        y = self.op("Conv", *inputs, channels=out, kernel_shape=sizes, strides=[stride] * len(sizes), pads=pads,
                    group=groups, dilations=[dilation] * len(sizes))
        return self.activation(y, act)

    def depthwise(self, x, kernel=3, stride=1, act="Relu", dilation=1):
        return self.conv(x, self.channels[x], kernel, stride, act, self.channels[x], dilation)

    def deconv(self, x, out, kernel, stride, act="Relu", pads=0):
        fan = max(1, self.channels[x] * kernel * kernel // stride**2)
        w = self.weights(self.channels[x], out, kernel, kernel, fan=fan)
        y = self.op("ConvTranspose", x, w, self.near(0, out), channels=out, kernel_shape=[kernel] * 2,
                    strides=[stride] * 2, pads=[pads] * 4)
        return self.activation(y, act)

    def batchnorm(self, x):
        c = self.channels[x]
        return self.op("BatchNormalization", x, self.near(1, c), self.near(0, c), self.near(0, c), self.near(1, c))

    def layernorm(self, x, width):
        return self.op("LayerNormalization", x, self.near(1, width), self.near(0, width), axis=-1)

    def linear(self, x, out):
        """A matrix product over the last dimension and a bias, as of tokens."""
        y = self.op("MatMul", x, self.weights(self.channels[x], out, gain=1.0, fan=self.channels[x]), channels=out)
        return self.op("Add", y, self.near(0, out))

    def gemm(self, x, out, act=None):
        y = self.op("Gemm", x, self.weights(out, self.channels[x], gain=1.0), self.near(0, out), channels=out, transB=1)
        return self.activation(y, act)

    def pool(self, x, kernel, stride, pads=0, kind="MaxPool", rank=2, **attributes):
        return self.op(kind, x, kernel_shape=[kernel] * rank, strides=[stride] * rank, pads=[pads] * 2 * rank,
                       **attributes)

    def concat(self, *xs, axis=1):
        return self.op("Concat", *xs, axis=axis, channels=sum(self.channels[x] for x in xs) if axis == 1 else None)

    def split(self, x, *sizes, axis=1):
        parts = self.op("Split", x, self.ints(*sizes), outputs=len(sizes), axis=axis)
        for part, size in zip(parts, sizes):
            self.channels[part] = size
        return parts

    def reshape(self, x, *shape, channels=None):
        return self.op("Reshape", x, self.ints(*shape), channels=channels)

    def transpose(self, x, *perm, channels=None):
        return self.op("Transpose", x, perm=perm, channels=channels)

    def resize(self, x, factor=2, mode="nearest"):
        extra = ({"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} if mode == "nearest" else
                 {"coordinate_transformation_mode": "pytorch_half_pixel"})
        return self.op("Resize", x, "", self.constant([1, 1, factor, factor]), mode=mode, **extra)

    def squeeze_excite(self, x, narrow, act="Relu", gate="Sigmoid"):
        y = self.op("GlobalAveragePool", x)
        y = self.conv(self.conv(y, narrow, 1, act=act), self.channels[x], 1, act=None)
        return self.op("Mul", x, self.op(gate, y, **({"alpha": 1 / 6} if gate == "HardSigmoid" else {})))

    def head(self, x, classes=1000):
        x = self.op("Flatten", self.op("GlobalAveragePool", x), axis=1)
        return [self.gemm(x, classes)]

    def model(self):
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        model = shape_inference.infer_shapes(model, strict_mode=True)
        checker.check_model(model)
        return model
