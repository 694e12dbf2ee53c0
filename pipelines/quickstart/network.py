# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small convolutional networks in numpy, for the scripts of this folder that train the quickstart's detectors: 3x3 convolutions with
ReLU, then a 1x1 convolution that says of each cell what is there. Pictures and everything between layers are N,H,W,C."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

KERNEL = 3


def patches(x, stride):
    """What each place of a 3x3 convolution sees, in one row."""
    n, h, w, c = x.shape
    p = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    out = np.empty((n, -(-h // stride), -(-w // stride), KERNEL, KERNEL, c), np.float32)
    for y in range(KERNEL):
        for x0 in range(KERNEL):
            out[:, :, :, y, x0] = p[:, y:y + h:stride, x0:x0 + w:stride]
    return out.reshape(*out.shape[:3], -1)


def scatter(g, shape, stride):
    """The gradient of patches()."""
    n, h, w, c = shape
    out = np.zeros((n, h + 2, w + 2, c), np.float32)
    g = g.reshape(*g.shape[:3], KERNEL, KERNEL, c)
    for y in range(KERNEL):
        for x0 in range(KERNEL):
            out[:, y:y + h:stride, x0:x0 + w:stride] += g[:, :, :, y, x0]
    return out[:, 1:-1, 1:-1]


class Network:
    def __init__(self, layers, bias, rng):
        """LAYERS: (in, out, stride) each; BIAS: of the outputs, at first."""
        self.layers, self.params = layers, []
        for cin, cout, _ in layers:
            scale = np.sqrt(2 / (cin * KERNEL ** 2))
            self.params += [rng.normal(0, scale, (KERNEL ** 2 * cin, cout)), np.zeros(cout)]
        self.params += [rng.normal(0, 0.05, (layers[-1][1], len(bias))), np.array(bias)]
        self.params = [p.astype(np.float32) for p in self.params]

    def forward(self, x):
        saved = []
        for i, (_, _, stride) in enumerate(self.layers):
            seen, shape = patches(x, stride), x.shape
            x = np.maximum(seen @ self.params[2 * i] + self.params[2 * i + 1], 0)
            saved.append((seen, x, shape))
        return x @ self.params[-2] + self.params[-1], saved

    def gradients(self, g, saved):
        grads = [None] * len(self.params)

        def of_product(i, x, g):
            rows = g.reshape(-1, g.shape[-1])
            grads[i], grads[i + 1] = x.reshape(len(rows), -1).T @ rows, rows.sum(0)

        of_product(len(grads) - 2, saved[-1][1], g)
        g = g @ self.params[-2].T
        for i in reversed(range(len(self.layers))):
            seen, x, shape = saved[i]
            g = g * (x > 0)
            of_product(2 * i, seen, g)
            if i:
                g = scatter(g @ self.params[2 * i].T, shape, self.layers[i][2])
        return grads

    def train(self, iterations, batch, wrong, rate=2e-3):
        """BATCH() gives pictures and what is in them, WRONG(outputs, truth) the gradient of the loss; yields the number of each
        iteration. Adam, with a rate that falls as a cosine."""
        m = [np.zeros_like(p) for p in self.params]
        v = [np.zeros_like(p) for p in self.params]
        for k in range(1, iterations + 1):
            x, truth = batch()
            out, saved = self.forward(x)
            now = rate * (0.01 + 0.99 * (1 + np.cos(np.pi * k / iterations)) / 2) * min(1, k / 100)
            for i, g in enumerate(self.gradients(wrong(out, truth), saved)):
                m[i] = 0.9 * m[i] + 0.1 * g
                v[i] = 0.999 * v[i] + 0.001 * g * g
                self.params[i] -= (now * (m[i] / (1 - 0.9 ** k)) / (np.sqrt(v[i] / (1 - 0.999 ** k)) + 1e-8)).astype(np.float32)
            yield k

    def nodes(self):
        """ONNX nodes and initialisers, from the tensor "image" (N,C,H,W) to "head"."""
        nodes, inits, x = [], [], "image"
        for i, (cin, cout, stride) in enumerate(self.layers):
            w = self.params[2 * i].reshape(KERNEL, KERNEL, cin, cout).transpose(3, 2, 0, 1)
            inits += [numpy_helper.from_array(np.ascontiguousarray(w), f"w{i}"), numpy_helper.from_array(self.params[2 * i + 1], f"b{i}")]
            nodes += [helper.make_node("Conv", [x, f"w{i}", f"b{i}"], [f"c{i}"], f"conv{i}", strides=[stride] * 2, pads=[1] * 4),
                      helper.make_node("Relu", [f"c{i}"], [f"r{i}"], f"relu{i}")]
            x = f"r{i}"
        w = np.ascontiguousarray(self.params[-2].T)[:, :, None, None]
        inits += [numpy_helper.from_array(w, "wh"), numpy_helper.from_array(self.params[-1], "bh")]
        return nodes + [helper.make_node("Conv", [x, "wh", "bh"], ["head"], "head")], inits


def cells_to_boxes(picture, stride, size, parts):
    """ONNX nodes and initialisers from what a network says of its cells (N,C,H,W), "head", to "boxes", corners from 0 to 1, and
    "scores". PARTS: which of "scores", "offset" (from the cell's middle, in cells) and "extent" (a logarithm, of SIZE) has how
    many of the channels, in this order."""
    w, h = picture
    gy, gx = (np.mgrid[0:h // stride, 0:w // stride] + 0.5) * stride
    arrays = {"columns": np.array([1, -1, sum(parts.values())]), "parts": np.array(list(parts.values())),
              "step": stride / np.array([w, h]), "half": size / 2 / np.array([w, h]),
              "grid": np.stack([gx, gy], -1).reshape(1, -1, 2) / np.array([w, h])}
    inits = [numpy_helper.from_array(a.astype(np.float32) if a.dtype.kind == "f" else a, name) for name, a in arrays.items()]
    return [helper.make_node("Transpose", ["head"], ["last"], "channels_last", perm=[0, 2, 3, 1]),
            helper.make_node("Reshape", ["last", "columns"], ["cells"], "cells"),
            helper.make_node("Split", ["cells", "parts"], ["said_" + name for name in parts], "split", axis=2),
            helper.make_node("Sigmoid", ["said_scores"], ["scores"], "score"),
            helper.make_node("Mul", ["said_offset", "step"], ["offset"], "offset"),
            helper.make_node("Add", ["offset", "grid"], ["centre"], "centre"),
            helper.make_node("Exp", ["said_extent"], ["ratio"], "exp"),
            helper.make_node("Mul", ["ratio", "half"], ["extent"], "extent"),
            helper.make_node("Sub", ["centre", "extent"], ["low"], "low"),
            helper.make_node("Add", ["centre", "extent"], ["high"], "high"),
            helper.make_node("Concat", ["low", "high"], ["boxes"], "corners", axis=2)], inits


def save(path, name, nodes, inits, picture, outputs, properties):
    """OUTPUTS: shapes by name; PROPERTIES: what the model says of itself."""
    def tensor(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    w, h = picture
    graph = helper.make_graph(nodes, name, [tensor("image", [1, 3, h, w])], [tensor(*o) for o in outputs.items()], inits)
    model = helper.make_model(graph, producer_name="axon quickstart", opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    helper.set_model_props(model, properties)
    onnx.checker.check_model(model)
    onnx.save(model, path)
