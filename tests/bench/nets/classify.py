# SPDX-License-Identifier: LGPL-2.1-or-later
"""Convolutional networks that tell what a picture shows."""
from nets.builder import network


def stem(net, size=224):
    return net.input("input", 1, 3, size, size)


@network(opset=13)
def efficientnet_b0(net):
    """Swish, squeeze-and-excite, depthwise 5x5."""
    x = net.conv(stem(net), 32, 3, 2, "silu")
    for expand, out, repeats, stride, kernel in [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
                                                 (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]:
        for i in range(repeats):
            narrow, y = net.channels[x] // 4, x
            if expand > 1:
                y = net.conv(y, net.channels[x] * expand, 1, act="silu")
            y = net.depthwise(y, kernel, stride if i == 0 else 1, "silu")
            y = net.conv(net.squeeze_excite(y, narrow, "silu"), out, 1, act=None)
            x = net.op("Add", y, x) if i else y
    return net.head(net.conv(x, 1280, 1, act="silu"))


def shuffle(net, x, size):
    c = net.channels[x]
    y = net.transpose(net.reshape(x, 1, 2, c // 2, size, size), 0, 2, 1, 3, 4)
    return net.reshape(y, 1, c, size, size, channels=c)


@network(opset=13)
def shufflenet_v2(net):
    """Split, two branches, channel shuffle."""
    x = net.pool(net.conv(stem(net), 24, 3, 2), 3, 2, 1)
    size = 56
    for out, repeats in [(116, 4), (232, 8), (464, 4)]:
        for i in range(repeats):
            half, stride = out // 2, 2 if i == 0 else 1
            if i:
                left, right = net.split(x, half, half)
            else:
                size //= 2
                left, right = net.conv(net.depthwise(x, 3, 2, None), half, 1), x
            right = net.conv(net.depthwise(net.conv(right, half, 1), 3, stride, None), half, 1)
            x = shuffle(net, net.concat(left, right), size)
    return net.head(net.conv(x, 1024, 1))


def mobilenet_v3_rows(net, x, swish, gate):
    for kernel, wide, out, excite, act, stride in [
            (3, 16, 16, True, "Relu", 2), (3, 72, 24, False, "Relu", 2), (3, 88, 24, False, "Relu", 1),
            (5, 96, 40, True, swish, 2), (5, 240, 40, True, swish, 1), (5, 240, 40, True, swish, 1),
            (5, 120, 48, True, swish, 1), (5, 144, 48, True, swish, 1), (5, 288, 96, True, swish, 2),
            (5, 576, 96, True, swish, 1), (5, 576, 96, True, swish, 1)]:
        y = net.depthwise(net.conv(x, wide, 1, act=act), kernel, stride, act)
        if excite:
            y = net.squeeze_excite(y, max(8, wide // 4 // 8 * 8), "Relu", gate)
        y = net.conv(y, out, 1, act=None)
        x = net.op("Add", x, y) if stride == 1 and net.channels[x] == out else y
    return net.conv(x, 576, 1, act=swish)


@network(opset=17)
def mobilenet_v3_small(net):
    """HardSwish and HardSigmoid as operators."""
    return net.head(mobilenet_v3_rows(net, net.conv(stem(net), 16, 3, 2, "HardSwish"), "HardSwish", "HardSigmoid"))


@network(opset=11)
def mobilenet_v3_small_chains(net):
    """The same with hard swish as Add, Clip, Mul, Div, which older exporters write."""
    x = mobilenet_v3_rows(net, net.conv(stem(net), 16, 3, 2, "hardswish"), "hardswish", "Sigmoid")
    return net.head(x)


@network(opset=13)
def resnext26_32x4d(net):
    """Grouped convolution, 32 groups."""
    x = net.pool(net.conv(stem(net), 64, 7, 2), 3, 2, 1)
    for i, wide in enumerate([128, 256, 512, 1024]):
        for j in range(2):
            stride = 2 if i and not j else 1
            y = net.conv(net.conv(net.conv(x, wide, 1), wide, 3, stride, groups=32), 2 * wide, 1, act=None)
            x = net.op("Relu", net.op("Add", y, x if j else net.conv(x, 2 * wide, 1, stride, None)))
    return net.head(x)


@network(opset=13)
def regnety_800mf(net):
    """Groups of 16 channels, squeeze-and-excite."""
    x = net.conv(stem(net), 32, 3, 2)
    for wide, repeats in [(64, 1), (144, 3), (320, 8), (784, 2)]:
        for j in range(repeats):
            stride, narrow = 1 if j else 2, net.channels[x] // 4
            y = net.conv(net.conv(x, wide, 1), wide, 3, stride, groups=wide // 16)
            y = net.conv(net.squeeze_excite(y, narrow), wide, 1, act=None)
            x = net.op("Relu", net.op("Add", y, x if j else net.conv(x, wide, 1, stride, None)))
    return net.head(x)


def ghost(net, x, out, act="Relu"):
    first = net.conv(x, out // 2, 1, act=act)
    return net.concat(first, net.depthwise(first, 3, 1, act))


@network(opset=13)
def ghostnet(net):
    """Half of the channels by cheap depthwise layers, concatenated."""
    x = net.conv(stem(net), 16, 3, 2)
    for kernel, wide, out, excite, stride in [
            (3, 16, 16, 0, 1), (3, 48, 24, 0, 2), (3, 72, 24, 0, 1), (5, 72, 40, 1, 2), (5, 120, 40, 1, 1),
            (3, 240, 80, 0, 2), (3, 200, 80, 0, 1), (3, 184, 80, 0, 1), (3, 480, 112, 1, 1), (3, 672, 112, 1, 1),
            (5, 672, 160, 1, 2), (5, 960, 160, 0, 1), (5, 960, 160, 1, 1)]:
        y = ghost(net, x, wide)
        if stride > 1:
            y = net.depthwise(y, kernel, stride, None)
        if excite:
            y = net.squeeze_excite(y, wide // 4, "Relu", "HardSigmoid")
        y, same = ghost(net, y, out, None), stride == 1 and net.channels[x] == out
        short = x if same else net.conv(net.depthwise(x, kernel, stride, None), out, 1, act=None)
        x = net.op("Add", y, short)
    return net.head(net.conv(x, 960, 1))


@network(opset=13)
def antispoof_lrn(net):
    """Local response normalisation, average pooling with ceil mode, tanh and a normalised embedding."""
    x = net.op("LRN", net.pool(net.conv(stem(net, 192), 64, 7, 2), 3, 2, ceil_mode=1), size=5, alpha=1e-4, beta=0.75)
    x = net.conv(net.conv(x, 64, 1), 160, 3)
    x = net.pool(net.op("LRN", x, size=5, alpha=1e-4, beta=0.75), 3, 2, ceil_mode=1)
    for out in (96, 128, 192):
        branches = [net.conv(x, out // 2, 1), net.conv(net.conv(x, out // 4, 1), out, 3),
                    net.conv(net.conv(x, out // 8, 1), out // 4, 5),
                    net.conv(net.pool(x, 3, 1, 1, "AveragePool"), out // 4, 1)]
        x = net.pool(net.concat(*branches), 3, 2, 0, "AveragePool", ceil_mode=1)
    x = net.op("Flatten", net.op("Tanh", net.conv(x, 64, 1, act=None)), axis=1)
    return [net.op("LpNormalization", x, axis=1, p=2)]


@network(opset=13)
def blurpool_resnet18(net):
    """Reflecting Pad and depthwise 3x3 with stride 2 before each smaller stage; batch normalisation before Relu."""
    def blur(x):
        y = net.op("Pad", x, net.ints(0, 0, 1, 1, 0, 0, 1, 1), mode="reflect")
        return net.conv(y, net.channels[x], 3, 2, None, net.channels[x], pads=[0] * 4, bias=False)
    x = blur(net.pool(net.conv(stem(net), 64, 7, 2), 3, 1, 1))
    for i, wide in enumerate([64, 128, 256, 512]):
        for j in range(2):
            small = i > 0 and j == 0
            y = net.op("Relu", net.batchnorm(x))
            z = net.conv(blur(y) if small else y, wide, 3, 1, None, bias=False)
            z = net.conv(net.op("Relu", net.batchnorm(z)), wide, 3, 1, None, bias=False)
            x = net.op("Add", z, net.conv(blur(y), wide, 1, act=None) if small else x)
    return net.head(net.op("Relu", net.batchnorm(x)))
