#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains shapes.onnx, the detector of the quickstart, from generated frames.

Needs python3-numpy and python3-onnx; with libopenblas0 it takes a quarter of an hour. Seeded: it made the file in the tree.
The quickstart's scene and thresholds were chosen for it: they show that the pipeline works, not how good the network is elsewhere.

Frames are 160x120: a textured ground, bars, and up to six shapes of any size, angle and colour, so that only their outline says
what they are. A network of six 3x3 convolutions looks at 55x55 pixels per cell of a 20x15 grid and says how sure it is of each
kind, and the box.

usage: shapes.py OUT.onnx [ITERATIONS]
"""
import sys

import numpy as np
from onnx import helper, numpy_helper

from network import Network, cells_to_boxes, save

KINDS = ["disc", "square", "triangle", "star", "cross"]
W, H, STRIDE, SIZE = 160, 120, 8, 24.0
GW, GH = W // STRIDE, H // STRIDE
LAYERS = [(3, 16, 2), (16, 32, 2), (32, 48, 1), (48, 64, 2), (64, 64, 1), (64, 64, 1)]  # in, out, stride
rng = np.random.default_rng(19)
yy, xx = np.mgrid[0:H, 0:W] + 0.5


def circle_of(n, radii, turn=0.0):
    a = turn + 2 * np.pi * np.arange(n) / n
    return np.stack([np.cos(a), np.sin(a)], 1) * np.resize(radii, n)[:, None]


ARM = 0.33  # half of a cross's arm, of its radius
CORNERS = {"square": circle_of(4, [1]), "triangle": circle_of(3, [1.1]), "star": circle_of(10, [1.1, 0.45]),
           "cross": np.array([[1, ARM], [ARM, ARM], [ARM, 1], [-ARM, 1], [-ARM, ARM], [-1, ARM],
                              [-1, -ARM], [-ARM, -ARM], [-ARM, -1], [ARM, -1], [ARM, -ARM], [1, -ARM]])}


def distance(px, py, corners):
    """How far points are outside a polygon, negative inside."""
    least, inside = np.full(px.shape, np.inf), np.zeros(px.shape, bool)
    for (ax, ay), (bx, by) in zip(corners, np.roll(corners, 1, 0)):
        ex, ey, wx, wy = bx - ax, by - ay, px - ax, py - ay
        t = np.clip((wx * ex + wy * ey) / (ex * ex + ey * ey), 0, 1)
        least = np.minimum(least, (wx - ex * t) ** 2 + (wy - ey * t) ** 2)
        inside ^= ((ay > py) != (by > py)) & (px < ax + (py - ay) * ex / np.where(ey == 0, 1, ey))
    return np.sqrt(least) * np.where(inside, -1, 1)


def smooth(cells):
    """Noise that changes over so many pixels."""
    def weights(n):
        at = np.arange(n) / cells
        return np.maximum(0, 1 - np.abs(at[:, None] - np.arange(int(n / cells) + 2)))
    a, b = weights(H), weights(W)
    return a @ rng.uniform(-1, 1, (a.shape[1], b.shape[1])) @ b.T


def ground():
    img = rng.uniform(0.05, 0.95, (3, 1, 1)) * np.ones((1, H, W))
    for _ in range(rng.integers(1, 4)):
        img = img + smooth(rng.uniform(3, 60)) * rng.uniform(0, 0.15) * rng.uniform(0.3, 1, (3, 1, 1))
    if rng.random() < 0.5:
        a, wave = rng.uniform(0, np.pi), rng.uniform(4, 30)
        img = img + np.sin((np.cos(a) * xx + np.sin(a) * yy) * 2 * np.pi / wave) * rng.uniform(0, 0.12)
    for _ in range(rng.integers(0, 4)):  # bars
        a, at, half = rng.uniform(0, np.pi), rng.uniform(0, H), rng.uniform(0.5, 4)
        far = np.abs(np.cos(a) * (xx - W / 2) + np.sin(a) * (yy - H / 2) + at - H / 2)
        cover = np.clip(half + 0.5 - far, 0, 1) * (np.abs(np.sin(a) * xx - np.cos(a) * yy - at) < rng.uniform(10, 90))
        img = img * (1 - cover) + rng.uniform(0, 1, (3, 1, 1)) * cover
    return img


def draw(img, kind, x, y, r):
    """Draws a shape, returns its box."""
    turn = rng.uniform(0, 2 * np.pi)
    half = [r, r]
    middle = [x, y]
    if kind == "disc":
        far = np.hypot(xx - x, yy - y) - r
    else:
        c, s = np.cos(turn), np.sin(turn)
        corners = CORNERS[kind] @ np.array([[c, s], [-s, c]]) * r + [x, y]
        far = distance(xx, yy, corners)
        low, high = corners.min(0), corners.max(0)
        half, middle = (high - low) / 2, (high + low) / 2
    cover = np.clip(0.5 - far * rng.uniform(0.6, 1.6), 0, 1)
    under = (img * (far < 3)).sum((1, 2)) / np.maximum((far < 3).sum(), 1)
    while np.abs((colour := rng.uniform(0, 1, 3)) - under).max() < 0.3:
        pass
    fill = colour[:, None, None] + smooth(rng.uniform(4, 40)) * rng.uniform(0, 0.1)
    return img * (1 - cover) + fill * cover, [*middle, *half]


def frame():
    """One picture (H,W,3 in 0..1) and its shapes as (kind, centre x and y, half the width and height)."""
    img, placed, shapes = ground(), [], []
    for _ in range(rng.integers(0, 7)):
        r = rng.uniform(7, 20)
        x, y = rng.uniform(0.3 * r, W - 0.3 * r), rng.uniform(0.3 * r, H - 0.3 * r)
        if any(np.hypot(x - a, y - b) < 0.95 * (r + c) for a, b, c in placed):
            continue
        kind = int(rng.integers(len(KINDS)))
        img, box = draw(img, KINDS[kind], x, y, r)
        placed.append((x, y, r))
        shapes.append((kind, *box))
    img = img + rng.normal(0, rng.uniform(0, 0.04), img.shape)
    return np.clip(img, 0, 1).transpose(1, 2, 0), shapes


def batch(n=10):
    """Pictures (-1..1), and for each cell: which kind to say (-1: it does not matter), and the box."""
    x = np.zeros((n, H, W, 3), np.float32)
    scores = np.zeros((n, GH, GW, len(KINDS)), np.float32)
    boxes = np.zeros((n, GH, GW, 4), np.float32)
    cy, cx = (np.mgrid[0:GH, 0:GW] + 0.5) * STRIDE
    for i in range(n):
        picture, shapes = frame()
        x[i] = 2 * picture - 1
        for kind, bx, by, hw, hh in shapes:
            far = np.maximum(np.abs(cx - bx), np.abs(cy - by))
            near = (far < 0.8 * STRIDE)
            scores[i, (far < 1.4 * STRIDE) & ~near & (scores[i].max(-1) <= 0)] = -1
            scores[i, near] = np.eye(len(KINDS))[kind]
            boxes[i, near] = np.stack([(bx - cx[near]) / STRIDE, (by - cy[near]) / STRIDE,
                                       np.full(near.sum(), np.log(2 * hw / SIZE)), np.full(near.sum(), np.log(2 * hh / SIZE))], -1)
    return x, (scores, boxes)


def wrong(out, truth):
    scores, boxes = truth
    g = np.zeros_like(out)
    found = scores.max(-1, keepdims=True) > 0
    g[..., :4] = np.clip(out[..., :4] - boxes, -0.5, 0.5) * found * 4
    g[..., 4:] = (0.5 + 0.5 * np.tanh(out[..., 4:] / 2) - scores) * (scores >= 0) * np.where(found, 5, 1)
    return g / len(out)


def judge(net):
    x, (scores, _) = batch(64)
    out = net.forward(x)[0][..., 4:]
    there = scores.max(-1) > 0
    right = (out.argmax(-1) == scores.argmax(-1))[there & (out.max(-1) > 0)]
    return (out.max(-1)[there] > 0).mean(), right.mean() if right.size else 0, ((out.max(-1) > 0) & (scores.max(-1) == 0)).sum() / 64


def export(net, path):
    """Boxes have the form of YOLO v4's from PyTorch: no kind is the ground."""
    nodes, inits = net.nodes()
    more, arrays = cells_to_boxes((W, H), STRIDE, SIZE, {"offset": 2, "extent": 2, "scores": len(KINDS)})
    more[-1].output[0] = "corners"
    more.append(helper.make_node("Reshape", ["corners", "form"], ["boxes"], "boxes"))
    arrays.append(numpy_helper.from_array(np.array([1, -1, 1, 4]), "form"))
    save(path, "shapes", nodes + more, inits + arrays, (W, H), {"scores": [1, GW * GH, len(KINDS)], "boxes": [1, GW * GH, 1, 4]},
         {"axon.labels": ",".join(KINDS), "axon.mean": "127.5", "axon.scale": "127.5", "axon.decoder": "boxes-scores",
          "axon.threshold": "0.8", "axon.iou-threshold": "0.3", "license": "LGPL-2.1-or-later"})


if __name__ == "__main__":
    iterations = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    network = Network(LAYERS, [0, 0, 0, 0] + [-4] * len(KINDS), rng)
    for step in network.train(iterations, batch, wrong):
        if step % 100 == 0:
            print("{:5d} of {}: found {:.2f}, right {:.2f}, wrong per frame {:.2f}".format(step, iterations, *judge(network)), flush=True)
        if step % 500 == 0:
            export(network, sys.argv[1])
