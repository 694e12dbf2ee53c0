#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains ball.onnx, the detector of the quickstart, from generated frames.

Needs python3-numpy and python3-onnx. Seeded: the same machine gives the same file. Frames are 128x96,
dark with noise, with up to two bright discs and some bright bars that are no discs. A network of five
3x3 convolutions looks at 47x47 pixels per cell of a 16x12 grid and says: disc or not, centre, size.

usage: train.py OUT.onnx [ITERATIONS]
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

W, H, STRIDE, SIZE = 128, 96, 8, 16.0
GW, GH = W // STRIDE, H // STRIDE
LAYERS = [(3, 12, 2), (12, 24, 2), (24, 32, 2), (32, 32, 1), (32, 32, 1)]  # in, out, stride
rng = np.random.default_rng(7)


def frame():
    """One picture (3,H,W in 0..1) and its discs as (x, y, radius)."""
    yy, xx = np.mgrid[0:H, 0:W] + 0.5
    img = np.full((3, H, W), rng.uniform(0, 0.25)) + rng.normal(0, rng.uniform(0, 0.05), (3, H, W))
    for _ in range(rng.integers(0, 3)):  # bars
        x, y = rng.integers(0, W), rng.integers(0, H)
        w, h = (rng.integers(2, 6), rng.integers(10, 60))[:: rng.choice([1, -1])]
        img[:, y:y + h, x:x + w] = rng.uniform(0.4, 1)
    discs = []
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        r = rng.uniform(3.5, 14)
        x, y = rng.uniform(r * 0.3, W - r * 0.3), rng.uniform(r * 0.3, H - r * 0.3)
        if any((x - a) ** 2 + (y - b) ** 2 < (r + c + 4) ** 2 for a, b, c in discs):
            continue
        cover = np.clip(r + 0.5 - np.hypot(xx - x, yy - y), 0, 1)
        color = rng.uniform(0.6, 1) * np.array([1, 1, 1]) * rng.uniform(0.8, 1, 3)
        img = img * (1 - cover) + color[:, None, None] * cover
        discs.append((x, y, r))
    return np.clip(img, 0, 1), discs


def batch(n):
    x = np.zeros((n, 3, H, W), np.float32)
    t = np.zeros((n, 5, GH, GW), np.float32)
    for i in range(n):
        x[i], discs = frame()
        for cx, cy, r in discs:
            gx, gy = int(cx / STRIDE), int(cy / STRIDE)
            t[i, :, gy, gx] = [1, cx / STRIDE - gx - 0.5, cy / STRIDE - gy - 0.5,
                               np.log(2 * r / SIZE), np.log(2 * r / SIZE)]
    return x, t


def patches(x, stride):
    n, c, h, w = x.shape
    p = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    v = np.lib.stride_tricks.sliding_window_view(p, (3, 3), (2, 3))[:, :, ::stride, ::stride]
    return v.transpose(0, 2, 3, 1, 4, 5).reshape(n, v.shape[2], v.shape[3], c * 9)


def scatter(g, shape, stride):
    n, c, h, w = shape
    out = np.zeros((n, c, h + 2, w + 2), np.float32)
    g = g.reshape(n, g.shape[1], g.shape[2], c, 3, 3)
    for ky in range(3):
        for kx in range(3):
            out[:, :, ky:ky + h:stride, kx:kx + w:stride] += g[..., ky, kx].transpose(0, 3, 1, 2)
    return out[:, :, 1:-1, 1:-1]


params = []
for cin, cout, _ in LAYERS:
    params += [rng.normal(0, np.sqrt(2 / (cin * 9)), (cin * 9, cout)).astype(np.float32),
               np.zeros(cout, np.float32)]
params += [rng.normal(0, 0.05, (LAYERS[-1][1], 5)).astype(np.float32),
           np.array([-4, 0, 0, 0, 0], np.float32)]


def forward(x):
    saved = []
    for i, (_, _, s) in enumerate(LAYERS):
        p = patches(x, s)
        y = p @ params[2 * i] + params[2 * i + 1]
        saved.append((p, y, x.shape))
        x = np.maximum(y, 0).transpose(0, 3, 1, 2)
    f = x.transpose(0, 2, 3, 1)
    return f @ params[-2] + params[-1], f, saved


def gradients(x, t):
    out, f, saved = forward(x)
    t = t.transpose(0, 2, 3, 1)
    pos = t[..., :1]
    score = 1 / (1 + np.exp(-out[..., :1]))
    g = np.zeros_like(out)
    g[..., :1] = (score - pos) * np.where(pos > 0, 4, 1)
    g[..., 1:] = np.clip(out[..., 1:] - t[..., 1:], -1, 1) * pos * 2
    g /= len(x)
    grads = [None] * len(params)
    grads[-2] = np.tensordot(f, g, ((0, 1, 2), (0, 1, 2)))
    grads[-1] = g.sum((0, 1, 2))
    g = g @ params[-2].T
    for i in reversed(range(len(LAYERS))):
        p, y, shape = saved[i]
        g = g * (y > 0)
        grads[2 * i] = np.tensordot(p, g, ((0, 1, 2), (0, 1, 2)))
        grads[2 * i + 1] = g.sum((0, 1, 2))
        if i:
            g = scatter(g @ params[2 * i].T, shape, LAYERS[i][2]).transpose(0, 2, 3, 1)
    return grads


def train(iterations):
    m = [np.zeros_like(p) for p in params]
    v = [np.zeros_like(p) for p in params]
    for k in range(1, iterations + 1):
        rate = 2e-3 * (1 if k < iterations * 0.6 else 0.3 if k < iterations * 0.85 else 0.1)
        for i, g in enumerate(gradients(*batch(12))):
            m[i] = 0.9 * m[i] + 0.1 * g
            v[i] = 0.999 * v[i] + 0.001 * g * g
            params[i] -= rate * (m[i] / (1 - 0.9 ** k)) / (np.sqrt(v[i] / (1 - 0.999 ** k)) + 1e-8)
        if k % 50 == 0:
            x, t = batch(32)
            out = forward(x)[0]
            pos = t[:, 0] > 0
            hit = (out[..., 0][pos] > 0).mean()
            wrong = ((out[..., 0] > 0) & ~pos).sum() / 32
            print(f"{k:5d} of {iterations}: found {hit:.2f}, wrong per frame {wrong:.2f}", flush=True)


def export(path):
    nodes, inits = [], []

    def const(name, array):
        inits.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    x = "image"
    for i, (cin, cout, s) in enumerate(LAYERS):
        w = params[2 * i].T.reshape(cout, cin, 3, 3)
        nodes.append(helper.make_node("Conv", [x, const(f"w{i}", w), const(f"b{i}", params[2 * i + 1])],
                                      [f"c{i}"], f"conv{i}", strides=[s, s], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"], f"relu{i}"))
        x = f"r{i}"
    head = params[-2].T.reshape(5, -1, 1, 1)
    gy, gx = np.mgrid[0:GH, 0:GW]
    grid = (np.stack([gx, gy], -1).reshape(1, -1, 2) + 0.5) * STRIDE / np.array([W, H])
    one = np.array([W, H], np.float32)
    nodes += [
        helper.make_node("Conv", [x, const("wh", head), const("bh", params[-1])], ["h"], "head"),
        helper.make_node("Transpose", ["h"], ["ht"], "channels_last", perm=[0, 2, 3, 1]),
        helper.make_node("Reshape", ["ht", const("shape", np.array([1, -1, 5]))], ["hr"], "cells"),
        helper.make_node("Split", ["hr", const("parts", np.array([1, 2, 2]))], ["s", "d", "z"], "split",
                         axis=2),
        helper.make_node("Sigmoid", ["s"], ["scores"], "score"),
        helper.make_node("Mul", ["d", const("step", (STRIDE / one).astype(np.float32))], ["ds"], "step"),
        helper.make_node("Add", ["ds", const("grid", grid.astype(np.float32))], ["c"], "centre"),
        helper.make_node("Exp", ["z"], ["e"], "exp"),
        helper.make_node("Mul", ["e", const("half", (SIZE / 2 / one).astype(np.float32))], ["hs"], "half"),
        helper.make_node("Sub", ["c", "hs"], ["lo"], "low"),
        helper.make_node("Add", ["c", "hs"], ["hi"], "high"),
        helper.make_node("Concat", ["lo", "hi"], ["boxes"], "corners", axis=2),
    ]
    n = GW * GH
    graph = helper.make_graph(
        nodes, "ball",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, H, W])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, n, 1]),
         helper.make_tensor_value_info("boxes", TensorProto.FLOAT, [1, n, 4])], inits)
    model = helper.make_model(graph, producer_name="axon quickstart",
                              opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    helper.set_model_props(model, {"axon.labels": "ball", "axon.scale": "255",
                                   "axon.decoder": "boxes-scores"})
    onnx.checker.check_model(model)
    onnx.save(model, path)


if __name__ == "__main__":
    train(int(sys.argv[2]) if len(sys.argv) > 2 else 1200)
    export(sys.argv[1])
