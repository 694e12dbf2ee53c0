#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Numbers alone can hide a wrong network: decoded results of the shared models, against the results
that their README gives. AXON_TEST_MODEL_SECONDS bounds what a run may take.
usage: decoded.py AXON_RUN DEVICE DATA [KEY=VALUE]"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("python3-numpy is not installed")
    sys.exit(77)

run, device, data = sys.argv[1:4]
config = [f"--config={sys.argv[4]}"] if len(sys.argv) > 4 else []
data = os.environ.get("AXON_TEST_DATA", data)
if not os.path.isdir(os.path.join(data, "models")):
    print(f"no models in {data} (set AXON_TEST_DATA)")
    sys.exit(77)
LIMIT = float(os.environ.get("AXON_TEST_MODEL_SECONDS", 0)) or None
# Other families of networks have operators that device GPU refuses: with reasons, which other tests read.
KINDS = ["models"] + (["families"] if device in ("CPU", "TEMPLATE") else [])
COCO = [line.strip() for line in open(os.path.join(data, "models/labels/coco80.txt"))]


def folder_of(name):
    folders = [os.path.join(data, kind, name) for kind in KINDS]
    return next((f for f in folders if os.path.isdir(f)), None)


def outputs(name, data_set):
    folder = folder_of(name)
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([run, "--device", device, *config, os.path.join(folder, "model.onnx"), "--input",
                        os.path.join(folder, data_set, "input_0.pb"), "--save", tmp], check=True,
                       stdout=subprocess.DEVNULL, timeout=LIMIT)
        n = len(os.listdir(tmp))
        return [np.load(os.path.join(tmp, f"output_{i}.npy")).astype(np.float64) for i in range(n)]


def iou(a, b):
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0
    return w * h / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h)


def nms(found, limit):
    """Quantised scores tie: then the later cell comes first, as where the expected results were made."""
    kept = []
    for f in sorted(reversed(found), key=lambda f: -f[1]):
        if all(f[0] != k[0] or iou(f[2], k[2]) <= limit for k in kept):
            kept.append(f)
    return kept


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def yolox(out, size, image):
    p, rows = out[0][0], []
    for s in (8, 16, 32):
        n = size // s
        rows += [(x, y, s) for y in range(n) for x in range(n)]
    found, r = [], min(size / image[0], size / image[1])
    for q, (gx, gy, s) in zip(p, rows):
        c = int(q[5:].argmax())
        score = q[4] * q[5 + c]
        if score > 0.3:
            cx, cy, w, h = (q[0] + gx) * s, (q[1] + gy) * s, np.exp(q[2]) * s, np.exp(q[3]) * s
            found.append((COCO[c], score, [(cx - w / 2) / r, (cy - h / 2) / r, (cx + w / 2) / r,
                                           (cy + h / 2) / r]))
    return nms(found, 0.45)


def letterbox(box, size, image):
    """From the centred picture in a square of @size to the picture."""
    r = min(size / image[0], size / image[1])
    left, top = (size - image[0] * r) / 2, (size - image[1] * r) / 2
    return [(v - (top if i % 2 else left)) / r for i, v in enumerate(box)]


def yolov8(out, size, image):
    found = []
    for q in out[0][0].T:
        c = int(q[4:84].argmax())
        if q[4 + c] > 0.35:
            found.append((COCO[c], q[4 + c], letterbox([q[0] - q[2] / 2, q[1] - q[3] / 2, q[0] + q[2] / 2,
                                                        q[1] + q[3] / 2], size, image)))
    return nms(found, 0.45)


def yolov5(out, size, image):
    rows = out[0][0]
    scores = np.concatenate([rows[:, :4], rows[:, 4:5] * rows[:, 5:]], 1)
    return yolov8([scores.T[None]], size, image)


def yolo26(out, size, image):
    return [(COCO[int(q[5])], q[4], letterbox(q[:4], size, image)) for q in out[0][0] if q[4] > 0.35]


def ultraface(out, _, image):
    scores, boxes = out[0][0], out[1][0]
    return nms([("face", s[1], list(b * np.array(image * 2))) for s, b in zip(scores, boxes)
                if s[1] > 0.7], 0.3)


def fastestdet(out, _, image):
    p, found = out[0][0], []
    for y in range(22):
        for x in range(22):
            q = p[:, y, x]
            c = int(q[5:].argmax())
            score = q[0] ** 0.6 * q[5 + c] ** 0.4
            if score > 0.5:
                cx, cy = (np.tanh(q[1]) + x) / 22 * image[0], (np.tanh(q[2]) + y) / 22 * image[1]
                w, h = sigmoid(q[3]) * image[0], sigmoid(q[4]) * image[1]
                found.append((COCO[c], score, [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2]))
    return nms(found, 0.45)


def yunet(out, size, image):
    found, r = [], min(size / image[0], size / image[1])
    for i, s in enumerate((8, 16, 32)):
        n = size // s
        for k in range(n * n):
            score = np.sqrt(max(out[i][0, k, 0] * out[3 + i][0, k, 0], 0))
            if score > 0.6:
                b = out[6 + i][0, k]
                cx, cy = (k % n + b[0]) * s, (k // n + b[1]) * s
                w, h = np.exp(b[2]) * s, np.exp(b[3]) * s
                found.append(("face", score, [(cx - w / 2) / r, (cy - h / 2) / r, (cx + w / 2) / r,
                                              (cy + h / 2) / r]))
    return nms(found, 0.3)


def check_boxes(found, expected, least=0.9, off=0.05, certain=0):
    for e in (e for e in expected if e["score"] > certain):
        best = max((f for f in found if f[0] == e["label"]), key=lambda f: iou(f[2], e["box"]),
                   default=None)
        if best is None or iou(best[2], e["box"]) < least or abs(best[1] - e["score"]) > off:
            return f"expected {e}, nearest {best}"
    if len(found) > len(expected) + len(expected) // 4:
        return f"{len(found)} objects, expected {len(expected)}"
    return None


def check_dynamic(found, expected):
    """Where activations are quantised by their own range, one that rounds to the next step moves all that
    follows: TEMPLATE agrees with the maker of the results in every sum of the first layers, then no more."""
    return check_boxes(found, expected, 0.8, 0.15, 0.5)


def softmax(v):
    e = np.exp(v - v.max())
    return v if (v >= 0).all() and abs(v.sum() - 1) < 1e-2 else e / e.sum()


def check_classes(out, expected):
    """The same classes, best first; logits that tie may stand in either order."""
    p = softmax(out[0].ravel())
    top = p.argsort()[::-1][:len(expected)]
    for rank, e in enumerate(expected):
        if abs(p[e["cls"]] - e["score"]) > 0.05 or \
                (e["cls"] != top[rank] and abs(p[e["cls"]] - p[top[rank]]) > 1e-3):
            return f"rank {rank}: expected {e}, got class {top[rank]} {p[top[rank]]:.4f}"
    return None


def check_fractions(out, axis, expected):
    classes = out[0].argmax(axis)
    for e in expected:
        if abs((classes == e["cls"]).mean() - e["frac"]) > 0.005:
            return f"expected {e}, got {(classes == e['cls']).mean():.4f}"
    return None


def check_text(out, expected):
    chars = [""] + [line.rstrip("\n") for line in
                    open(os.path.join(data, "models/labels/ppocr_en_dict.txt"))] + [" "]
    best, text = out[0][0].argmax(1), ""
    for i, c in enumerate(best):
        if c and (i == 0 or c != best[i - 1]):
            text += chars[c]
    return None if text == expected[0]["text"] else f"expected {expected[0]['text']}, read {text}"


def check_keypoints(out, expected):
    """The cell of each heatmap's maximum: within one cell of where the README has it."""
    x0, y0, w, h = 0, 0, 860, 1146  # the README counts from the crop's corner
    for e, heat in zip(expected, out[0][0]):
        y, x = np.unravel_index(heat.argmax(), heat.shape)
        px, py = x0 + x * w / heat.shape[1], y0 + y * h / heat.shape[0]
        if abs(px - e["x"]) > 18 or abs(py - e["y"]) > 18 or abs(heat.max() - e["score"]) > 0.05:
            return f"expected {e}, got {px:.1f} {py:.1f} {heat.max():.3f}"
    return None


STREET, FACES = (768, 512), (1024, 768)
CASES = {
    "yolox-nano-416": lambda o, e: check_boxes(yolox(o, 416, STREET), e),
    "ultraface-rfb-320": lambda o, e: check_boxes(ultraface(o, 0, FACES), e),
    "ultraface-rfb-320-qdq-s8": lambda o, e: check_boxes(ultraface(o, 0, FACES), e),
    "fastestdet-352": lambda o, e: check_boxes(fastestdet(o, 0, STREET), e),
    "fastestdet-352-qop-u8s8": lambda o, e: check_boxes(fastestdet(o, 0, STREET), e),
    "yunet-n-dynamic": lambda o, e: check_boxes(yunet(o, 320, FACES), e),
    "mnist-8": check_classes,
    "mobilenetv2-1.0-224-fp32": check_classes,
    "mobilenetv2-1.0-224-qdq-u8s8": check_classes,
    "mobilenetv2-1.0-224-qop-u8u8": check_classes,
    "deeplabv3-mnv2-dm05-257": lambda o, e: check_fractions(o, 3, e),
    "sinet-portrait-320": lambda o, e: check_fractions(o, 1, e),
    "ppocr-rec-en-number-v2": check_text,
    "superres-espcn-x3": lambda o, e: None if abs(o[0].mean() - e[0]["mean"]) < 1e-4 else "mean",
    "ppocrv3-det-en": lambda o, e: None if abs((o[0] > 0.3).mean() - e[0]["frac_gt_0_3"]) < 1e-4
                      else "fraction of text",
    "simplepose-192x256": check_keypoints,
    "yolov8n-320-dynquant": lambda o, e: check_dynamic(yolov8(o, 320, STREET), e),
    "yolov8n-seg-320-dynquant": lambda o, e: check_dynamic(yolov8(o, 320, STREET), e),
    "yolo26n-640-end2end-dynquant": lambda o, e: check_dynamic(yolo26(o, 640, STREET), e),
    "yolov5n-640-fp16": lambda o, e: check_boxes(yolov5(o, 640, STREET), e),
}

failed = 0
cases = {name: check for name, check in CASES.items() if folder_of(name)}
for name, check in cases.items():
    meta = json.load(open(os.path.join(folder_of(name), "meta.json")))
    problem = check(outputs(name, "test_data_set_0"), meta["data_sets"][0]["reference_result"])
    print("FAIL" if problem else "pass", name, problem or "")
    failed += problem is not None
print(f"{len(cases) - failed} passed, {failed} failed")
sys.exit(1 if failed else 0)
