#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains ball.onnx, which finds the ball of videotestsrc, from generated frames.

Needs python3-numpy and python3-onnx. Seeded; the file in the tree was made by an earlier version of network.py.
Frames are 128x96, dark with noise, with up to two bright discs and some bright bars that are no discs. A network of five
3x3 convolutions looks at 47x47 pixels per cell of a 16x12 grid and says: disc or not, centre, size.

usage: ball.py OUT.onnx [ITERATIONS]
"""
import sys

import numpy as np

from network import Network, cells_to_boxes, save

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


def batch(n=12):
    """Pictures, and of each cell whether a disc's centre is in it, where, and its size."""
    x = np.zeros((n, H, W, 3), np.float32)
    t = np.zeros((n, GH, GW, 5), np.float32)
    for i in range(n):
        picture, discs = frame()
        x[i] = picture.transpose(1, 2, 0)
        for cx, cy, r in discs:
            gx, gy = int(cx / STRIDE), int(cy / STRIDE)
            t[i, gy, gx] = [1, cx / STRIDE - gx - 0.5, cy / STRIDE - gy - 0.5, np.log(2 * r / SIZE), np.log(2 * r / SIZE)]
    return x, t


def wrong(out, t):
    pos = t[..., :1]
    g = np.zeros_like(out)
    g[..., :1] = (0.5 + 0.5 * np.tanh(out[..., :1] / 2) - pos) * np.where(pos > 0, 4, 1)
    g[..., 1:] = np.clip(out[..., 1:] - t[..., 1:], -1, 1) * pos * 2
    return g / len(out)


def judge(net):
    x, t = batch(32)
    said, pos = net.forward(x)[0][..., 0] > 0, t[..., 0] > 0
    return said[pos].mean(), (said & ~pos).sum() / 32


def export(net, path):
    nodes, inits = net.nodes()
    more, arrays = cells_to_boxes((W, H), STRIDE, SIZE, {"scores": 1, "offset": 2, "extent": 2})
    save(path, "ball", nodes + more, inits + arrays, (W, H), {"scores": [1, GW * GH, 1], "boxes": [1, GW * GH, 4]},
         {"axon.labels": "ball", "axon.scale": "255", "axon.decoder": "boxes-scores"})


if __name__ == "__main__":
    iterations = int(sys.argv[2]) if len(sys.argv) > 2 else 1200
    network = Network(LAYERS, [-4, 0, 0, 0, 0], rng)
    for step in network.train(iterations, batch, wrong):
        if step % 50 == 0:
            print("{:5d} of {}: found {:.2f}, wrong per frame {:.2f}".format(step, iterations, *judge(network)), flush=True)
    export(network, sys.argv[1])
