#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How well tracks fit others of the same video, as IDF1 (Ristani 2016) at an IoU of 0.5. Reads nnpublish's lines.
usage: idf1.py TRUTH TRACKS; prints IDF1, the number of tracks of TRUTH and of TRACKS"""
import itertools
import json
import sys
from collections import Counter


def read(path):
    """Boxes by timestamp and track."""
    with open(path, encoding="utf-8") as f:
        return {r["timestamp"]: {o["id"]: [o[k] for k in "xywh"] for o in r["objects"] if "id" in o}
                for r in map(json.loads, f)}


def overlap(a, b):
    w = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    h = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    both = max(w, 0) * max(h, 0)
    return both / max(a[2] * a[3] + b[2] * b[3] - both, 1)


def best_pairing(fits, rows, columns):
    """The most that a one-to-one pairing of few @rows and @columns gives."""
    if len(rows) > len(columns):
        return best_pairing(Counter({(c, r): n for (r, c), n in fits.items()}), columns, rows)
    return max(sum(fits[pair] for pair in zip(rows, some)) for some in itertools.permutations(columns, len(rows)))


def main():
    truth, tracks = read(sys.argv[1]), read(sys.argv[2])
    fits = Counter((i, k) for time, there in truth.items() for i, a in there.items()
                   for k, b in tracks.get(time, {}).items() if overlap(a, b) >= 0.5)
    rows, columns = ({i for boxes in frames.values() for i in boxes} for frames in (truth, tracks))
    n = sum(len(boxes) for frames in (truth, tracks) for boxes in frames.values())
    found = best_pairing(fits, sorted(rows), sorted(columns))
    print(f"{2 * found / max(n, 1):.3f} {len(rows)} {len(columns)}")


main()
