#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""YOLOX over a video as people write it: OpenCV reads, resizes and suppresses, ONNX Runtime infers. Prints as JSON frames,
seconds from the first result to the last, processor time of them. usage: video_peer.py VIDEO MODEL"""
import json
import resource
import sys
import time

import cv2
import numpy as np
import onnxruntime as ort


def now():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), r.ru_utime + r.ru_stime


def grids(size):
    cells = [(x, y, stride) for stride in (8, 16, 32) for y in range(size // stride) for x in range(size // stride)]
    return np.array(cells, np.float32)


ort.set_default_logger_severity(4)
session = ort.InferenceSession(sys.argv[2], providers=["CPUExecutionProvider"])
name, size, seen, found = session.get_inputs()[0].name, session.get_inputs()[0].shape[2], [], 0
cells, video = grids(size), cv2.VideoCapture(sys.argv[1])
while True:
    ok, frame = video.read()
    if not ok:
        break
    scale = min(size / frame.shape[0], size / frame.shape[1])
    small = cv2.resize(frame, (int(frame.shape[1] * scale), int(frame.shape[0] * scale)))
    picture = np.full((size, size, 3), 114, np.uint8)
    picture[:small.shape[0], :small.shape[1]] = small
    y = session.run(None, {name: picture.transpose(2, 0, 1)[None].astype(np.float32)})[0][0]
    scores = y[:, 4:5] * y[:, 5:]
    classes = scores.argmax(1)
    best = scores[np.arange(len(scores)), classes]
    kept = best > 0.3
    wh = np.exp(y[kept, 2:4]) * cells[kept, 2:]
    boxes = np.concatenate([(y[kept, :2] + cells[kept, :2]) * cells[kept, 2:] - wh / 2, wh], 1) / scale
    found += len(cv2.dnn.NMSBoxesBatched(boxes.tolist(), best[kept].tolist(), classes[kept].tolist(), 0.3, 0.45))
    seen.append(now())
print(json.dumps({"frames": len(seen), "seconds": seen[-1][0] - seen[0][0], "cpu": seen[-1][1] - seen[0][1], "found": found,
                  "rss_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
