#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models that ask for gigabytes in a few bytes, and chains of 80,000 nodes: read, compiled and run on TEMPLATE and CPU (the
target fuzz-model) each ends by itself, within 256 MiB and the file's size, as AXON_MAX_MEMORY says 128.
usage: hostile.py FUZZ-MODEL FOLDER"""
import os, subprocess, sys, tempfile

ALLOWED = 256 << 20
PATIENCE = 100


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def chain(n, operator):
    """x f32[1] through @n nodes."""
    tensor = field(2, field(1, b"\x08\x01" + field(2, field(1, b"\x08\x01"))))
    nodes = b"".join(field(1, field(1, b"x%d" % i) + field(2, b"x%d" % (i + 1)) + field(4, operator)) for i in range(n))
    graph = nodes + field(2, b"g") + field(11, field(1, b"x0") + tensor) + field(12, field(1, b"x%d" % n) + tensor)
    return b"\x08\x08" + field(7, graph) + field(8, field(1, b"") + b"\x10\x0d")


def peak(program, path):
    child = subprocess.Popen([program, path], stdout=subprocess.DEVNULL)
    timer = subprocess.Popen(["sh", "-c", f"sleep {PATIENCE}; kill -9 {child.pid}"], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    timer.kill()
    timer.wait()
    return status, usage.ru_maxrss * 1024


def main():
    program, folder = sys.argv[1:]
    failed = n = 0
    os.environ.update(AXON_MAX_MEMORY="128", MALLOC_ARENA_MAX="1")  # what one thread gave back another takes
    with tempfile.TemporaryDirectory() as made:
        for operator in [b"Relu", b"Cos"]:
            with open(os.path.join(made, f"chain-{operator.decode()}.onnx"), "wb") as file:
                file.write(chain(80000, operator))
        for where in [folder, made]:
            for name in sorted(os.listdir(where)):
                path = os.path.join(where, name)
                status, taken = peak(program, path)
                ok = status == 0 and taken <= ALLOWED + os.path.getsize(path)
                print(f"{'ok' if ok else 'not ok'} {name}: status {status}, {taken >> 20} MiB", flush=True)
                n += 1
                failed += not ok
    print(f"{n} models, {failed} wrong")
    return 1 if failed or n < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
