# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures to pictures: masks, poses, larger, repainted."""
import numpy as np

from nets.builder import network


def twice(net, x, out):
    return net.conv(net.conv(x, out), out)


@network(opset=13)
def unet_256(net):
    """Transposed convolutions 2x2, concatenation with what the way down left."""
    x, kept = net.input("input", 1, 3, 256, 256), []
    for out in (16, 32, 64, 128):
        kept.append(twice(net, x, out))
        x = net.pool(kept[-1], 2, 2)
    x = twice(net, x, 256)
    for out, other in zip((128, 64, 32, 16), reversed(kept)):
        x = twice(net, net.concat(net.deconv(x, out, 2, 2, None), other), out)
    return [net.op("Sigmoid", net.conv(x, 1, 1, act=None))]


def basic(net, x):
    c = net.channels[x]
    return net.op("Relu", net.op("Add", net.conv(net.conv(x, c), c, act=None), x))


@network(opset=13)
def hrnet_pose(net):
    """Branches of several sizes that exchange sums, by strided convolution and by Resize."""
    x = net.conv(net.conv(net.input("input", 1, 3, 256, 192), 32, 3, 2), 32, 3, 2)
    widths, branches = [16, 32, 64], [basic(net, net.conv(x, 16))]
    for n in (2, 3):
        branches.append(net.conv(branches[-1], widths[n - 1], 3, 2))
        branches = [basic(net, basic(net, b)) for b in branches]
        fused = []
        for i in range(n):
            total = branches[i]
            for j in range(n):
                y = branches[j]
                if j > i:
                    y = net.resize(net.conv(y, widths[i], 1, act=None), 2 ** (j - i))
                for step in range(i - j):
                    y = net.conv(y, widths[i] if step == i - j - 1 else widths[j], 3, 2, None)
                total = total if i == j else net.op("Add", total, y)
            fused.append(net.op("Relu", total))
        branches = fused
    all_of = [branches[0]] + [net.resize(b, 2 ** (k + 1), "linear") for k, b in enumerate(branches[1:])]
    return [net.conv(net.conv(net.concat(*all_of), 64, 1), 17, 1, act=None)]


@network(opset=13)
def aspp_segmentation(net):
    """Dilated convolutions at rates 6, 12, 18, depthwise ones with dilation, softmax over the classes."""
    x = net.conv(net.input("input", 1, 3, 320, 320), 16, 3, 2, "relu6")
    for out, stride, dilation in [(24, 2, 1), (32, 2, 1), (64, 2, 1), (64, 1, 2), (96, 1, 2), (160, 1, 4)]:
        y = net.depthwise(net.conv(x, 4 * net.channels[x], 1, act="relu6"), 3, stride, "relu6", dilation)
        y = net.conv(y, out, 1, act=None)
        x = net.op("Add", x, y) if stride == 1 and net.channels[x] == out else y
    picture = net.conv(net.op("GlobalAveragePool", x), 64, 1)
    picture = net.op("Expand", picture, net.ints(1, 64, 20, 20))
    x = net.concat(net.conv(x, 64, 1), *[net.conv(x, 64, 3, dilation=d) for d in (6, 12, 18)], picture)
    x = net.resize(net.conv(net.conv(x, 128, 1), 21, 1, act=None), 8, "linear")
    x = net.op("Softmax", x, axis=1)
    return [x, net.op("ArgMax", x, axis=1, keepdims=0)]


@network(opset=13)
def erfnet(net):
    """Convolutions of 3x1 and 1x3, dilated ones, batch normalisation behind a concatenation."""
    def down(x, out):
        y = net.concat(net.conv(x, out - net.channels[x], 3, 2, None), net.pool(x, 2, 2))
        return net.op("Relu", net.batchnorm(y))

    def factorised(x, d):
        c, y = net.channels[x], x
        for dilation, last in ((1, "Relu"), (d, None)):
            y = net.conv(y, c, (3, 1), act="Relu", pads=[dilation, 0, dilation, 0], dilation=dilation)
            y = net.conv(y, c, (1, 3), act=last, pads=[0, dilation, 0, dilation], dilation=dilation)
        return net.op("Relu", net.op("Add", x, y))
    x = down(down(net.input("input", 1, 3, 256, 512), 16), 64)
    x = factorised(factorised(x, 1), 1)
    x = down(x, 128)
    for d in (2, 4, 8, 16):
        x = factorised(x, d)
    x = factorised(net.deconv(x, 64, 4, 2, pads=1), 1)
    x = factorised(net.deconv(x, 16, 4, 2, pads=1), 1)
    return [net.deconv(x, 20, 2, 2, None)]


@network(opset=13)
def srresnet_x2(net):
    """PRelu of slopes per channel, residuals, DepthToSpace, tanh."""
    x = first = net.conv(net.input("input", 1, 3, 96, 96), 32, 9, act="prelu")
    for _ in range(6):
        x = net.op("Add", net.conv(net.conv(x, 32, act="prelu"), 32, act=None), x)
    x = net.conv(net.op("Add", net.conv(x, 32, act=None), first), 128, act=None)
    x = net.prelu(net.op("DepthToSpace", x, blocksize=2, mode="CRD", channels=32))
    return [net.op("Tanh", net.conv(x, 3, 9, act=None))]


@network(opset=11)
def srcnn(net):
    """Large dense kernels, 9x9 and 5x5, over one channel, upsampled before."""
    x = net.op("Resize", net.input("input", 1, 1, 96, 96), net.constant([]), net.constant([1, 1, 2, 2]), mode="cubic",
               coordinate_transformation_mode="half_pixel")
    return [net.conv(net.conv(net.conv(x, 64, 9), 32, 1), 1, 5, act=None)]


@network(opset=11)
def style_transfer(net):
    """Instance normalisation, reflecting Pad, Upsample by 2."""
    def layer(x, out, kernel, stride=1, act=True):
        p = kernel // 2
        x = net.op("Pad", x, net.ints(0, 0, p, p, 0, 0, p, p), mode="reflect")
        x = net.conv(x, out, kernel, stride, None, pads=[0] * 4)
        x = net.op("InstanceNormalization", x, net.near(1, out), net.near(0, out))
        return net.op("Relu", x) if act else x

    def larger(x):
        return net.op("Resize", x, net.constant([]), net.constant([1, 1, 2, 2]), mode="nearest")
    x = layer(layer(layer(net.input("input", 1, 3, 224, 224), 16, 9), 32, 3, 2), 64, 3, 2)
    for _ in range(3):
        x = net.op("Add", x, layer(layer(x, 64, 3), 64, 3, act=False))
    x = layer(larger(layer(larger(x), 32, 3)), 16, 3)
    x = net.op("Pad", x, net.ints(0, 0, 4, 4, 0, 0, 4, 4), mode="reflect")
    return [net.conv(x, 3, 9, act=None, pads=[0] * 4)]


@network(opset=13)
def dcgan_128(net):
    """Transposed convolutions 4x4 from a vector of noise, batch normalisation, Relu, tanh."""
    x = net.input("noise", 1, 100, 1, 1)
    x = net.op("Relu", net.batchnorm(net.deconv(x, 256, 4, 1, None)))
    for out in (128, 64, 64, 32):
        x = net.op("Relu", net.batchnorm(net.deconv(x, out, 4, 2, None, pads=1)))
    return [net.op("Tanh", net.deconv(x, 3, 4, 2, None, pads=1))]


@network(opset=16)
def video_warp(net):
    """Optical flow by a small network, then GridSample of the second frame; LeakyRelu; the frame's size is free."""
    first, second = (net.input(name, 1, 3, "height", "width") for name in ("first", "second"))
    x, kept = net.concat(first, second), []
    for out in (16, 32, 64):
        x = net.conv(net.conv(x, out, 3, 2, "LeakyRelu"), out, act="LeakyRelu")
        kept.append(x)
    for other in (kept[1], kept[0]):
        x = net.concat(net.resize(net.conv(x, net.channels[other], act="LeakyRelu"), 2, "linear"), other)
    flow = net.op("Tanh", net.resize(net.conv(x, 2, act=None), 2, "linear"))
    grid = net.transpose(flow, 0, 2, 3, 1)
    warped = net.op("GridSample", second, grid, mode="bilinear", padding_mode="border", align_corners=1)
    difference = net.op("Abs", net.op("Sub", first, warped))
    return [warped, net.op("ReduceMean", difference, axes=[1], keepdims=1)]


@network(opset=13)
def matting_guided(net):
    """A fast guided filter: box means by AveragePool, element-wise chains on few channels, large pictures."""
    x = net.input("input", 1, 3, 384, 384)
    low = net.pool(x, 4, 4, kind="AveragePool")
    alpha = net.op("Sigmoid", net.conv(twice(net, net.conv(low, 16, act="hardswish"), 16), 1, act=None))
    grey = net.op("ReduceMean", low, axes=[1], keepdims=1)

    def box(y):
        return net.pool(y, 9, 1, 4, "AveragePool", count_include_pad=0)
    mean, mean_alpha = box(grey), box(alpha)
    covariance = net.op("Sub", box(net.op("Mul", grey, alpha)), net.op("Mul", mean, mean_alpha))
    variance = net.op("Sub", box(net.op("Mul", grey, grey)), net.op("Mul", mean, mean))
    a = net.op("Div", covariance, net.op("Add", variance, net.constant(np.float32(1e-4))))
    b = net.op("Sub", mean_alpha, net.op("Mul", a, mean))
    a, b = net.resize(box(a), 4, "linear"), net.resize(box(b), 4, "linear")
    full = net.op("ReduceMean", x, axes=[1], keepdims=1)
    y = net.op("Add", net.op("Mul", a, full), b)
    return [net.op("Clip", y, net.constant(0), net.constant(1))]
