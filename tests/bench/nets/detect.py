# SPDX-License-Identifier: LGPL-2.1-or-later
"""Detectors with what follows the network in the graph; sequences, sound and video."""
import numpy as np

from nets.builder import network


@network(opset=16)
def two_stage_detector(net):
    """Proposals by TopK and NonMaxSuppression, RoiAlign, two dense layers."""
    x = net.input("input", 1, 3, 320, 320)
    for out in (16, 32, 64, 128):
        x = net.conv(net.conv(x, out, 3, 2), out)
    anchors, side = 3, 20
    y = net.conv(x, 128)
    scores = net.op("Sigmoid", net.conv(y, anchors, 1, act=None))
    scores = net.reshape(net.transpose(scores, 0, 2, 3, 1), -1)
    moves = net.reshape(net.transpose(net.conv(y, 4 * anchors, 1, act=None), 0, 2, 3, 1), -1, 4)
    best, where = net.op("TopK", scores, net.ints(300), outputs=2, axis=0)
    places = np.indices((side, side, anchors)).reshape(3, -1).T
    centres = (places[:, 1::-1] + 0.5) * 16
    halves = np.repeat(np.array([[32.0], [64.0], [96.0]])[places[:, 2]] / 2, 2, 1)
    boxes = net.constant(np.concatenate([centres - halves, centres + halves], 1))
    boxes = net.op("Add", boxes, net.op("Mul", moves, net.constant(4)))
    boxes = net.op("Clip", net.op("Gather", boxes, where, axis=0), net.constant(0), net.constant(320))
    kept = net.op("NonMaxSuppression", net.op("Unsqueeze", boxes, net.ints(0)),
                  net.op("Unsqueeze", best, net.ints(0, 1)), net.ints(50), net.constant(0.7), net.constant(0.0))
    kept = net.op("Squeeze", net.op("Slice", kept, net.ints(2), net.ints(3), net.ints(1)), net.ints(1))
    rois = net.op("Gather", boxes, kept, axis=0)
    batch = net.op("Mul", kept, net.constant(0, np.int64))
    y = net.op("RoiAlign", x, rois, batch, output_height=7, output_width=7, sampling_ratio=2, spatial_scale=1 / 16,
               channels=128 * 49)
    y = net.gemm(net.gemm(net.op("Flatten", y, axis=1, channels=128 * 49), 256, "Relu"), 256, "Relu")
    return [rois, net.op("Softmax", net.gemm(y, 21), axis=1), net.gemm(y, 84)]


@network(opset=13)
def yolov4_tiny_mish(net):
    """Mish, LeakyRelu, halves of channels, spatial pyramid of MaxPool 5, 9, 13; boxes decoded in the graph."""
    def stage(x, out, act):
        x = net.conv(x, out, 3, act=act)
        _, half = net.split(x, out // 2, out // 2)
        a = net.conv(half, out // 2, 3, act=act)
        b = net.conv(a, out // 2, 3, act=act)
        return net.pool(net.concat(x, net.conv(net.concat(b, a), out, 1, act=act)), 2, 2)
    x = net.conv(net.conv(net.input("input", 1, 3, 320, 320), 16, 3, 2, "mish"), 32, 3, 2, "mish")
    x = stage(stage(stage(x, 32, "mish"), 64, "LeakyRelu"), 128, "LeakyRelu")
    x = net.conv(x, 128, 1, act="LeakyRelu")
    x = net.conv(net.concat(x, *[net.pool(x, k, 1, k // 2) for k in (5, 9, 13)]), 128, 1, act="LeakyRelu")
    y = net.reshape(net.conv(x, 255, 1, act=None), 1, 3, 85, 100)
    y = net.transpose(y, 0, 1, 3, 2)
    xy, wh, rest = net.op("Split", y, net.ints(2, 2, 81), outputs=3, axis=3)
    xy = net.op("Mul", net.op("Add", net.op("Sigmoid", xy), net.near(5, 1, 1, 100, 2)), net.constant(32))
    wh = net.op("Mul", net.op("Exp", wh), net.near(60, 1, 3, 1, 2))
    y = net.op("Concat", xy, wh, net.op("Sigmoid", rest), axis=3)
    return [net.reshape(y, 1, 300, 85)]


@network(opset=13)
def centernet(net):
    """Peaks of a heat map: MaxPool 3x3, Equal, TopK, GatherElements; transposed convolutions 4x4."""
    x = net.conv(net.input("input", 1, 3, 256, 256), 16, 7, 2)
    for out in (32, 64, 128, 128):
        x = net.conv(net.conv(x, out, 3, 2), out)
    for out in (64, 64, 32):
        x = net.op("Relu", net.batchnorm(net.deconv(x, out, 4, 2, None, pads=1)))
    heat = net.op("Sigmoid", net.conv(net.conv(x, 32), 80, 1, act=None))
    peaks = net.op("Equal", net.pool(heat, 3, 1, 1), heat)
    heat = net.op("Mul", heat, net.op("Cast", peaks, to=1))
    score, index = net.op("TopK", net.reshape(heat, 1, -1), net.ints(100), outputs=2, axis=1)
    place = net.op("Mod", index, net.constant(64 * 64, np.int64))
    sizes = net.reshape(net.conv(net.conv(x, 32), 2, 1, act=None), 1, 2, -1)
    place = net.op("Expand", net.op("Unsqueeze", place, net.ints(1)), net.ints(1, 2, 100))
    sizes = net.op("GatherElements", sizes, place, axis=2)
    return [score, index, sizes]


@network(opset=13)
def crnn(net):
    """Convolutions down to one row, then two bidirectional LSTM; a text's width is free."""
    x = net.input("input", 1, 1, 32, "width")
    for out, pool in ((32, (2, 2)), (64, (2, 2)), (128, (2, 1)), (128, (2, 1))):
        x = net.conv(x, out)
        x = net.op("MaxPool", x, kernel_shape=pool, strides=pool)
    x = net.conv(x, 256, (2, 1), pads=[0] * 4)
    x = net.transpose(net.op("Squeeze", x, net.ints(2)), 2, 0, 1, channels=256)
    for _ in range(2):
        c, hidden = net.channels[x], 96
        y = net.op("LSTM", x, net.weights(2, 4 * hidden, c, gain=1, fan=c), net.weights(2, 4 * hidden, hidden, gain=1),
                   net.near(0, 2, 8 * hidden), outputs=2, direction="bidirectional", hidden_size=hidden)[0]
        x = net.reshape(net.transpose(y, 0, 2, 1, 3), 0, 0, -1, channels=2 * hidden)
    return [net.op("LogSoftmax", net.linear(x, 97), axis=2)]


@network(opset=13)
def speech_gru(net):
    """A spectrogram through strided convolutions and two GRU layers; the number of frames is free."""
    x = net.input("input", 1, 1, 80, "frames")
    x = net.conv(x, 16, (5, 5), 2, "relu6", pads=[2] * 4)
    x = net.conv(x, 16, (3, 3), 2, "relu6")
    x = net.reshape(net.transpose(x, 3, 0, 1, 2), 0, 0, -1, channels=320)
    for _ in range(2):
        c, hidden = net.channels[x], 160
        y = net.op("GRU", x, net.weights(1, 3 * hidden, c, gain=1), net.weights(1, 3 * hidden, hidden, gain=1),
                   net.near(0, 1, 6 * hidden), outputs=2, hidden_size=hidden, linear_before_reset=1)[0]
        x = net.op("Squeeze", y, net.ints(1), channels=hidden)
    return [net.op("Softmax", net.linear(x, 29), axis=-1)]


@network(opset=13)
def wave_conv1d(net):
    """Sound: one spatial dimension, a first kernel of 80, then separable and dilated layers, GLU gates."""
    x = net.conv(net.input("input", 1, 1, 16000), 64, (80,), 4, pads=[38, 38], rank=1)
    x = net.op("Relu", net.batchnorm(net.pool(x, 4, 4, rank=1)))
    for out in (64, 128, 128):
        x = net.conv(x, out, 3, act=None, rank=1, bias=False)
        x = net.pool(net.op("Relu", net.batchnorm(x)), 2, 2, rank=1)
    for dilation in (1, 2, 4, 8):
        y = net.conv(x, 256, 3, act=None, dilation=dilation, rank=1)
        a, b = net.split(y, 128, 128)
        y = net.op("Mul", net.op("Tanh", a), net.op("Sigmoid", b))
        y = net.conv(y, 128, 15, act="silu", groups=128, rank=1)
        x = net.op("Add", x, net.conv(y, 128, 1, act=None, rank=1))
    return net.head(x, 35)


@network(opset=13)
def video_conv3d(net):
    """Three spatial dimensions: full and (1, 3, 3) with (3, 1, 1) kernels, MaxPool and average over time."""
    x = net.conv(net.input("input", 1, 3, 8, 64, 64), 16, 3, rank=3)
    x = net.op("MaxPool", x, kernel_shape=[1, 2, 2], strides=[1, 2, 2])
    x = net.pool(net.conv(x, 32, 3, rank=3), 2, 2, rank=3)
    y = net.conv(net.conv(x, 32, (1, 3, 3)), 32, (3, 1, 1), act=None)
    x = net.op("Relu", net.op("Add", x, y))
    x = net.pool(net.conv(x, 64, 3, rank=3), 2, 2, rank=3)
    x = net.op("Relu", net.batchnorm(net.conv(x, 64, 3, act=None, rank=3)))
    return net.head(x, 101)


@network(opset=13)
def pointnet(net):
    """Points in space: products with small matrices, a maximum over all points."""
    x = points = net.input("points", 1, 3, 1024)
    for out in (64, 128, 256):
        x = net.op("Relu", net.batchnorm(net.conv(x, out, 1, act=None, rank=1)))
    turn = net.gemm(net.op("ReduceMax", x, axes=[2], keepdims=0), 9)
    turn = net.op("Add", net.reshape(turn, 1, 3, 3), net.constant(np.eye(3)))
    x = net.transpose(net.op("MatMul", net.transpose(points, 0, 2, 1), turn), 0, 2, 1, channels=3)
    x = near = net.conv(x, 64, 1, rank=1)
    for out in (128, 512):
        x = net.conv(x, out, 1, rank=1)
    whole = net.op("ReduceMax", x, axes=[2], keepdims=1)
    whole = net.op("Expand", whole, net.ints(1, 512, 1024))
    x = net.conv(net.conv(net.concat(near, whole), 128, 1, rank=1), 13, 1, act=None, rank=1)
    return [net.op("LogSoftmax", x, axis=1)]


@network(opset=14)
def face_embedding(net):
    """Depthwise bottlenecks with PRelu, a global depthwise convolution, an embedding of length one."""
    x = net.conv(net.input("input", 1, 3, 112, 112), 64, 3, 2, "prelu")
    x = net.depthwise(x, 3, act="prelu")
    for out, repeats, expand, stride in [(64, 3, 2, 2), (128, 1, 4, 2), (128, 3, 2, 1), (128, 1, 4, 2), (128, 2, 2, 1)]:
        for i in range(repeats):
            s = stride if i == 0 else 1
            y = net.depthwise(net.conv(x, expand * net.channels[x], 1, act="prelu"), 3, s, "prelu")
            y = net.conv(y, out, 1, act=None)
            x = net.op("Add", x, y) if s == 1 and net.channels[x] == out else y
    x = net.conv(x, 256, 1, act="prelu")
    x = net.conv(x, 256, 7, 1, None, groups=256, pads=[0] * 4)
    x = net.batchnorm(net.gemm(net.op("Flatten", x, axis=1), 128))
    return [net.op("Div", x, net.op("ReduceL2", x, axes=[1], keepdims=1))]
