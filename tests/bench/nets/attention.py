# SPDX-License-Identifier: LGPL-2.1-or-later
"""Networks of tokens: attention, layer normalisation, gelu."""
import numpy as np
from onnx import TensorProto

from nets.builder import network


def heads_of(net, x, tokens, heads, width, perm=(0, 2, 1, 3)):
    return net.transpose(net.reshape(x, -1, tokens, heads, width // heads), *perm)


def attend(net, q, k, v, width, heads, bias=None):
    """@q and @v: batch, heads, tokens, lanes; @k: transposed already."""
    scores = net.op("Mul", net.op("MatMul", q, k), net.constant((width // heads) ** -0.5))
    for mask in bias or []:
        scores = net.op("Add", scores, mask)
    y = net.op("MatMul", net.op("Softmax", scores, axis=-1), v)
    return net.transpose(y, 0, 2, 1, 3)


def attention(net, x, tokens, heads, other=None, other_tokens=None, bias=None):
    width, other, other_tokens = net.channels[x], other or x, other_tokens or tokens
    q = heads_of(net, net.linear(x, width), tokens, heads, width)
    k = heads_of(net, net.linear(other, width), other_tokens, heads, width, (0, 2, 3, 1))
    v = heads_of(net, net.linear(other, width), other_tokens, heads, width)
    y = net.reshape(attend(net, q, k, v, width, heads, bias), -1, tokens, width, channels=width)
    return net.linear(y, width)


def fused_attention(net, x, tokens, heads, bias=None, batch=1):
    """One product for q, k and v, as timm's models have it."""
    width = net.channels[x]
    y = net.reshape(net.linear(x, 3 * width), batch, tokens, 3, heads, width // heads)
    y = net.transpose(y, 2, 0, 3, 1, 4)
    q, k, v = (net.op("Gather", y, net.constant(i, np.int64), axis=0) for i in range(3))
    y = attend(net, q, net.transpose(k, 0, 1, 3, 2), v, width, heads, bias)
    return net.linear(net.reshape(y, batch, tokens, width, channels=width), width)


def mlp(net, x, factor=4, act="gelu"):
    c = net.channels[x]
    return net.linear(net.activation(net.linear(x, factor * c), act), c)


def plain_layernorm(net, x, width):
    """As written before opset 17."""
    centred = net.op("Sub", x, net.op("ReduceMean", x, axes=[-1], keepdims=1))
    variance = net.op("ReduceMean", net.op("Pow", centred, net.constant(2)), axes=[-1], keepdims=1)
    y = net.op("Div", centred, net.op("Sqrt", net.op("Add", variance, net.constant(1e-5))))
    return net.op("Add", net.op("Mul", y, net.near(1, width)), net.near(0, width))


def patches(net, x, size, width):
    """Tokens of @size x @size pixels; a strided convolution without padding."""
    y = net.conv(x, width, size, size, None, pads=[0] * 4)
    return y, lambda tokens: net.transpose(net.reshape(y, 1, width, tokens), 0, 2, 1, channels=width)


@network(opset=17)
def vit_tiny(net):
    """Patches of 16, class token, LayerNormalization, gelu by Erf; 6 of 12 layers."""
    width, tokens = 192, 197
    _, rows = patches(net, net.input("input", 1, 3, 224, 224), 16, width)
    x = net.op("Concat", net.constant(np.zeros((1, 1, width))), rows(196), axis=1, channels=width)
    x = net.op("Add", x, net.near(0, 1, tokens, width))
    for _ in range(6):
        x = net.op("Add", x, fused_attention(net, net.layernorm(x, width), tokens, 3))
        x = net.op("Add", x, mlp(net, net.layernorm(x, width)))
    x = net.op("Gather", net.layernorm(x, width), net.constant(0, np.int64), axis=1, channels=width)
    return [net.gemm(x, 1000)]


def windows(net, x, side, width, back=False):
    n = side // 7
    if back:
        y = net.transpose(net.reshape(x, 1, n, n, 7, 7, width), 0, 1, 3, 2, 4, 5)
        return net.reshape(y, 1, side, side, width, channels=width)
    y = net.transpose(net.reshape(x, 1, n, 7, n, 7, width), 0, 1, 3, 2, 4, 5)
    return net.reshape(y, n * n, 49, width, channels=width)


def roll(net, x, shift):
    for axis in (1, 2):
        end = net.ints(np.iinfo(np.int64).max)
        parts = [net.op("Slice", x, net.ints(shift), end, net.ints(axis)),
                 net.op("Slice", x, net.ints(0), net.ints(shift), net.ints(axis))]
        x = net.op("Concat", *parts, axis=axis)
    return x


@network(opset=17)
def swin_pico(net):
    """Windows of 7x7 by Reshape and Transpose, rolled by Slice and Concat, a bias per pair, patch merging."""
    x, side, width = net.input("input", 1, 3, 224, 224), 56, 48
    _, rows = patches(net, x, 4, width)
    x = net.reshape(rows(56 * 56), 1, side, side, width, channels=width)
    for stage, heads in enumerate((2, 4, 8)):
        if stage:
            quarters = []
            for start in ((0, 0), (1, 0), (0, 1), (1, 1)):
                end, axes, steps = net.ints(side, side), net.ints(1, 2), net.ints(2, 2)
                quarters.append(net.op("Slice", x, net.ints(*start), end, axes, steps))
            x = net.op("Concat", *quarters, axis=-1, channels=4 * width)
            side, width = side // 2, 2 * width
            x = net.linear(net.layernorm(x, 2 * width), width)
        for shift in (0, 3):
            y = net.layernorm(x, width)
            y = windows(net, roll(net, y, shift) if shift else y, side, width)
            bias = net.near(0, 1, heads, 49, 49)
            y = fused_attention(net, y, 49, heads, [bias], (side // 7) ** 2)
            y = windows(net, y, side, width, back=True)
            x = net.op("Add", x, roll(net, y, side - shift) if shift else y)
            x = net.op("Add", x, mlp(net, net.layernorm(x, width)))
    return [net.gemm(net.op("ReduceMean", net.layernorm(x, width), axes=[1, 2], keepdims=0), 1000)]


@network(opset=17)
def convnext_atto(net):
    """Depthwise 7x7, LayerNormalization of channels between two Transposes, gelu, a scale per channel."""
    def norm(x):
        c = net.channels[x]
        return net.transpose(net.layernorm(net.transpose(x, 0, 2, 3, 1), c), 0, 3, 1, 2)
    x = norm(net.conv(net.input("input", 1, 3, 224, 224), 40, 4, 4, None, pads=[0] * 4))
    for i, (wide, repeats) in enumerate([(40, 2), (80, 2), (160, 6), (320, 2)]):
        if i:
            x = net.conv(norm(x), wide, 2, 2, None, pads=[0] * 4)
        for _ in range(repeats):
            y = net.layernorm(net.transpose(net.depthwise(x, 7, act=None), 0, 2, 3, 1), wide)
            y = net.op("Mul", mlp(net, y), net.near(0.5, wide))
            x = net.op("Add", x, net.transpose(y, 0, 3, 1, 2))
    x = net.op("Flatten", net.op("GlobalAveragePool", x), axis=1)
    return [net.gemm(net.layernorm(x, 320), 1000)]


def linear_attention(net, x, side, lanes):
    """Relu for softmax: keys and values meet before queries do, and are divided by the sum of keys."""
    c, n = net.channels[x], side * side
    qkv = net.conv(x, 3 * c, 1, act=None, bias=False)
    wide = net.conv(net.depthwise(qkv, 5, act=None), 3 * c, 1, act=None, groups=3 * c // lanes)
    y = net.reshape(net.concat(qkv, wide), 1, -1, 3 * lanes, n)
    q, k, v = net.op("Split", y, net.ints(lanes, lanes, lanes), outputs=3, axis=2)
    q, k = net.op("Relu", q), net.op("Relu", k)
    v = net.op("Pad", v, net.ints(0, 0, 0, 0, 0, 0, 1, 0), net.constant(1), mode="constant")
    y = net.op("MatMul", net.op("MatMul", v, net.transpose(k, 0, 1, 3, 2)), q)
    last = net.op("Slice", y, net.ints(-1), net.ints(np.iinfo(np.int64).max), net.ints(2))
    first = net.op("Slice", y, net.ints(0), net.ints(-1), net.ints(2))
    y = net.op("Div", first, net.op("Add", last, net.constant(1e-5)))
    return net.conv(net.reshape(y, 1, 2 * c, side, side, channels=2 * c), c, 1, act=None)


@network(opset=14)
def efficientvit_b0(net):
    """Linear attention over many scales beside depthwise layers with hard swish."""
    x = net.conv(net.input("input", 1, 3, 224, 224), 8, 3, 2, "HardSwish")
    side = 112

    def inverted(x, out, stride):
        y = net.depthwise(net.conv(x, 4 * net.channels[x], 1, act="HardSwish"), 3, stride, "HardSwish")
        y = net.conv(y, out, 1, act=None)
        return net.op("Add", x, y) if stride == 1 else y
    for out, attends in ((16, False), (32, False), (64, True), (128, True)):
        x, side = inverted(x, out, 2), side // 2
        for _ in range(2):
            if attends:
                x = net.op("Add", x, linear_attention(net, x, side, 16))
            x = inverted(x, out, 1)
    return net.head(net.conv(x, 512, 1, act="HardSwish"))


@network(opset=13)
def mixer_s32(net):
    """Products over tokens and over channels, a Transpose before and behind each."""
    width, tokens = 256, 49
    _, rows = patches(net, net.input("input", 1, 3, 224, 224), 32, width)
    x = rows(tokens)
    for _ in range(6):
        y = net.transpose(plain_layernorm(net, x, width), 0, 2, 1, channels=tokens)
        x = net.op("Add", x, net.transpose(mlp(net, y, 3), 0, 2, 1, channels=width))
        x = net.op("Add", x, mlp(net, plain_layernorm(net, x, width), 4))
    return [net.gemm(net.op("ReduceMean", x, axes=[1], keepdims=0), 1000)]


@network(opset=12)
def detr_like(net):
    """A small backbone, encoder and decoder of attention with layer normalisation written out; boxes and classes."""
    x = net.input("input", 1, 3, 256, 256)
    for out in (16, 32, 64, 128, 128):
        x = net.conv(x, out, 3, 2)
    tokens, width = 64, 128
    x = net.transpose(net.reshape(x, 1, width, tokens), 0, 2, 1, channels=width)
    place = net.near(0, 1, tokens, width)
    for _ in range(2):
        y = net.op("Add", x, place)
        x = plain_layernorm(net, net.op("Add", x, attention(net, y, tokens, 8)), width)
        x = plain_layernorm(net, net.op("Add", x, mlp(net, x, 4, "Relu")), width)
    queries = net.near(0, 1, 100, width)
    net.channels[queries] = width
    for _ in range(2):
        queries = plain_layernorm(net, net.op("Add", queries, attention(net, queries, 100, 8)), width)
        met = attention(net, queries, 100, 8, x, tokens)
        queries = plain_layernorm(net, net.op("Add", queries, met), width)
        queries = plain_layernorm(net, net.op("Add", queries, mlp(net, queries, 4, "Relu")), width)
    boxes = net.op("Sigmoid", net.linear(net.activation(net.linear(queries, width), "Relu"), 4))
    return [net.op("Softmax", net.linear(queries, 92), axis=-1), boxes]


@network(opset=13)
def text_encoder(net):
    """Words by number, a mask, four layers of attention; the sequence's length is free."""
    width, heads = 256, 4
    ids, mask = (net.input(name, 1, "sequence", dtype=TensorProto.INT64) for name in ("input_ids", "attention_mask"))
    x = net.op("Gather", net.near(0, 5000, width), ids, axis=0, channels=width)
    length = net.op("Slice", net.op("Shape", ids), net.ints(1), net.ints(2))
    place = net.op("Slice", net.near(0, 512, width), net.ints(0), length, net.ints(0))
    x = plain_layernorm(net, net.op("Add", x, place), width)
    far = net.op("Cast", net.op("Unsqueeze", mask, net.ints(1, 2)), to=TensorProto.FLOAT)
    far = net.op("Mul", net.op("Sub", net.constant(1), far), net.constant(-10000))

    def split(y, perm):
        return net.transpose(net.reshape(y, 0, 0, heads, width // heads), *perm)
    for _ in range(4):
        q, v = (split(net.linear(x, width), (0, 2, 1, 3)) for _ in range(2))
        k = split(net.linear(x, width), (0, 2, 3, 1))
        y = net.reshape(attend(net, q, k, v, width, heads, [far]), 0, 0, width, channels=width)
        x = plain_layernorm(net, net.op("Add", x, net.linear(y, width)), width)
        x = plain_layernorm(net, net.op("Add", x, mlp(net, x)), width)
    return [x, net.op("Tanh", net.gemm(net.op("Gather", x, net.constant(0, np.int64), axis=1, channels=width), width))]
