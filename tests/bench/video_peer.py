#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""YOLOX over a video as people write it: OpenCV reads, resizes and suppresses, ONNX Runtime infers. With a classifier,
objects are tracked in the manner of SORT with OpenCV's Kalman filter, and each is classified on each frame. Prints as
JSON frames, seconds from the first result to the last, processor time of them. usage: video_peer.py VIDEO MODEL
[CLASSIFIER]"""
import json
import resource
import sys
import time

import cv2
import numpy as np
import onnxruntime as ort

MEAN, SCALE = np.array([123.675, 116.28, 103.53], np.float32), np.array([58.395, 57.12, 57.375], np.float32)
HELD = 12  # frames that a track is held through


def now():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), r.ru_utime + r.ru_stime


def grids(size):
    cells = [(x, y, stride) for stride in (8, 16, 32) for y in range(size // stride) for x in range(size // stride)]
    return np.array(cells, np.float32)


def open_model(path):
    return ort.InferenceSession(path, providers=["CPUExecutionProvider"])


class Detector:
    def __init__(self, path):
        self.session = open_model(path)
        self.name, self.size = self.session.get_inputs()[0].name, self.session.get_inputs()[0].shape[2]
        self.cells = grids(self.size)

    def find(self, frame):
        """Boxes x, y, width, height and their classes."""
        size = self.size
        scale = min(size / frame.shape[0], size / frame.shape[1])
        small = cv2.resize(frame, (int(frame.shape[1] * scale), int(frame.shape[0] * scale)))
        picture = np.full((size, size, 3), 114, np.uint8)
        picture[:small.shape[0], :small.shape[1]] = small
        y = self.session.run(None, {self.name: picture.transpose(2, 0, 1)[None].astype(np.float32)})[0][0]
        scores = y[:, 4:5] * y[:, 5:]
        classes = scores.argmax(1)
        best = scores[np.arange(len(scores)), classes]
        kept = best > 0.3
        wh = np.exp(y[kept, 2:4]) * self.cells[kept, 2:]
        boxes = np.concatenate([(y[kept, :2] + self.cells[kept, :2]) * self.cells[kept, 2:] - wh / 2, wh], 1) / scale
        chosen = cv2.dnn.NMSBoxesBatched(boxes.tolist(), best[kept].tolist(), classes[kept].tolist(), 0.3, 0.45)
        return [(boxes[i], int(classes[kept][i])) for i in chosen]


def overlap(a, b):
    w = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    h = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    both = max(w, 0) * max(h, 0)
    return both / max(a[2] * a[3] + b[2] * b[3] - both, 1e-9)


class Track:
    def __init__(self, box, kind, number):
        self.kind, self.number, self.missed = kind, number, 0
        self.filter = cv2.KalmanFilter(8, 4)
        self.filter.transitionMatrix = np.eye(8, dtype=np.float32) + np.eye(8, k=4, dtype=np.float32)
        self.filter.measurementMatrix = np.eye(4, 8, dtype=np.float32)
        self.filter.processNoiseCov = np.eye(8, dtype=np.float32) * 0.01
        self.filter.measurementNoiseCov = np.eye(4, dtype=np.float32) * 0.1
        self.filter.errorCovPost = np.eye(8, dtype=np.float32)
        self.filter.statePost = np.float32([*box, 0, 0, 0, 0]).reshape(8, 1)

    def expect(self):
        self.box = self.filter.predict()[:4, 0]

    def see(self, box):
        self.filter.correct(np.float32(box).reshape(4, 1))
        self.missed = 0


class Tracker:
    def __init__(self):
        self.tracks, self.last = [], 0

    def update(self, found):
        for t in self.tracks:
            t.expect()
            t.missed += 1
        pairs = sorted(((overlap(t.box, box), i, k) for i, t in enumerate(self.tracks)
                        for k, (box, kind) in enumerate(found) if t.kind == kind), reverse=True)
        rows, columns = set(), set()
        for iou, i, k in pairs:
            if iou >= 0.3 and i not in rows and k not in columns:
                rows.add(i)
                columns.add(k)
                self.tracks[i].see(found[k][0])
        for k, (box, kind) in enumerate(found):
            if k not in columns:
                self.last += 1
                self.tracks.append(Track(box, kind, self.last))
        self.tracks = [t for t in self.tracks if t.missed <= HELD]


class Classifier:
    def __init__(self, path):
        self.session, self.said = open_model(path), 0
        self.name, self.size = self.session.get_inputs()[0].name, self.session.get_inputs()[0].shape[2]

    def say(self, frame, found):
        for box, _ in found:
            x, y = np.maximum(box[:2], 0).astype(int)
            x1, y1 = (box[:2] + box[2:]).astype(int)
            crop = frame[y:y1, x:x1]
            if crop.size == 0:
                continue
            picture = cv2.cvtColor(cv2.resize(crop, (self.size, self.size)), cv2.COLOR_BGR2RGB)
            y = self.session.run(None, {self.name: ((picture - MEAN) / SCALE).transpose(2, 0, 1)[None]})[0]
            self.said += y.argmax() >= 0


ort.set_default_logger_severity(4)
video, detector, seen, n_found = cv2.VideoCapture(sys.argv[1]), Detector(sys.argv[2]), [], 0
tracker, classifier = (Tracker(), Classifier(sys.argv[3])) if len(sys.argv) > 3 else (None, None)
while True:
    ok, frame = video.read()
    if not ok:
        break
    found = detector.find(frame)
    n_found += len(found)
    if classifier:
        tracker.update(found)
        classifier.say(frame, found)
    seen.append(now())
print(json.dumps({"frames": len(seen), "seconds": seen[-1][0] - seen[0][0], "cpu": seen[-1][1] - seen[0][1], "found": n_found,
                  "classified": classifier and int(classifier.said), "tracks": tracker and tracker.last,
                  "rss_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
