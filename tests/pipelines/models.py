#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every shared model on the picture of its README, with nothing said but model=: the README's decoded result must come,
or a warning that names what only a person can know. Arguments: the folder of the data, and names of models (none: all)."""
import base64, glob, json, math, os, subprocess, sys, tempfile

SIZES = {"faces-8.jpg": (1024, 768), "street-people-dog.jpg": (768, 512), "portrait.jpg": (1314, 1752), "sign-en.jpg": (800, 533),
         "kimono.jpg": (1828, 1264)}
# What only a person can know, as the warning says it.
WARNED = {
    "light-densenet121": "nothing reached threshold",  # weights are made up: all classes are alike
    "light-resnet50": "nothing reached threshold",
    "light-squeezenet": "nothing reached threshold",
    "mtcnn-onet": "one stage of a cascade",
    "mtcnn-pnet": "one stage of a cascade",
    "mtcnn-rnet": "one stage of a cascade",
    "nms-yolov8-graph": "expected one picture",
}
# Another picture decoder, and a last bit less of a quantised model, change results by so much at most.
SCORE, OVERLAP = 0.15, 0.8
# A class's score; of one model, whose picture is between three classes: shifted by one pixel, it says 0.14 less or more.
CLASS_SCORE, BETWEEN_CLASSES = 0.05, {"mobilenetv2-1.0-224-qop-u8u8": 0.25}


def crop(image, rectangle):
    if rectangle is None:
        return []
    width, height = SIZES[image]
    x, y, w, h = rectangle
    return ["!", "videocrop", f"left={x}", f"top={y}", f"right={width - x - w}", f"bottom={height - y - h}"]


def source(data, image, tmp):
    path = os.path.join(data, "media", image)
    if not image.endswith(".pgm"):
        return ["filesrc", f"location={path}", "!", "decodebin"]
    raw = os.path.join(tmp, "gray")  # no decoder of PGM: what follows the header
    with open(path, "rb") as pgm, open(raw, "wb") as out:
        out.write(pgm.read()[-28 * 28:])
    return ["filesrc", f"location={raw}", "!", "rawvideoparse", "format=gray8", "width=28", "height=28"]


def play(data, tmp, image, rectangle, model, tail):
    out = os.path.join(tmp, "out")
    open(out, "wb").close()
    line = source(data, image, tmp) + ["!", "videoconvert"] + crop(image, rectangle)
    line += ["!", "nninfer", f"model={model}", "!"] + [word.replace("OUT", out) for word in tail]
    done = subprocess.run(["gst-launch-1.0"] + line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    with open(out, "rb") as written:
        return done.returncode, done.stdout, written.read()


RESULTS = ["nndecode", "!", "nnpublish", "location=OUT", "add-tensor-data=true", "!", "fakesink"]
PICTURE = ["nntensor2video", "!", "videoconvert", "!", "video/x-raw,format=GRAY8", "!", "filesink", "location=OUT"]


def overlap(a, b):
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0
    both = w * h
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def boxes(record, image):
    """Label, score and corners; corners of the README's lie inside of the picture, too."""
    width, height = SIZES[image]
    found = []
    for o in record["objects"]:
        if "detection" in o:
            b = o["detection"]["bounding_box"]
            found.append((o["detection"].get("label"), o["detection"]["confidence"],
                          [b["x_min"] * width, b["y_min"] * height, b["x_max"] * width, b["y_max"] * height], o))
    return found


def compare_boxes(record, expected, image):
    width, height = SIZES[image]
    found, least = boxes(record, image), min(e["score"] for e in expected)
    assert found, "no objects"
    for e in expected:
        box = [min(max(v, 0), (width, height)[i % 2]) for i, v in enumerate(e["box"])]
        alike = [f for f in found if f[0] == e["label"] and overlap(f[2], box) >= OVERLAP and abs(f[1] - e["score"]) <= SCORE]
        lowest = min(f[1] for f in found)
        assert alike or e["score"] < lowest + SCORE, f"missing {e}"
        for (x, y), k in zip(e.get("points", []), alike[0][3]["keypoints"] if alike and "points" in e else []):
            assert math.hypot(k["x"] - x, k["y"] - y) <= 0.1 * (box[2] - box[0]), f"a point of {e} is at {k}"
        if alike and "mask_fill_of_box" in e:
            mask = alike[0][3]["mask"]
            cells = base64.b64decode(mask["data"])
            inside = sum(v > 127 for v in cells) * mask["w"] * mask["h"] / len(cells)
            fill = inside / ((box[2] - box[0]) * (box[3] - box[1]))
            assert abs(fill - e["mask_fill_of_box"]) <= 0.1, f"the mask of {e} fills {fill:.3f}"
    more = [f[:2] for f in found if f[1] > max(least, 0.3) + SCORE and not any(
        f[0] == e["label"] and overlap(f[2], e["box"]) >= 0.5 for e in expected)]
    assert not more, f"nobody expected {more}"


def attributes(record, name):
    return {v["label"]: v["confidence"] for o in record["objects"] for k, v in o.items() if k.startswith(name + "/")}


def compare_classes(record, expected, key, name, tolerance):
    found = attributes(record, name)
    best = max(expected, key=lambda e: e[key])
    assert found.get(best["label"], 0) == max(found.values()), found
    for e in expected:
        if e["label"] in found or e[key] > 0.1 + tolerance:
            assert abs(found.get(e["label"], 0) - e[key]) <= tolerance, f"{e}: {found}"


def compare_matte(record, expected):
    mask = record["mask"]
    cells = base64.b64decode(mask["data"])
    share = sum(v > 127 for v in cells) / len(cells)
    person = [e["frac"] for e in expected if e["label"] == "person"][0]
    assert abs(share - person) <= 0.02, f"{share:.4f} of the picture, expected {person}"


def compare_points(record, expected, distance):
    found = record["keypoints"]
    assert len(found) >= len(expected), len(found)
    for got, (x, y, score) in zip(found, expected):
        assert score < 0.5 or math.hypot(got["x"] - x, got["y"] - y) <= distance, f"{got}, expected {x} {y}"


def compare_text(record, expected):
    assert record["text"]["label"] == expected["text"], record["text"]
    assert abs(record["text"]["confidence"] - expected["score"]) <= SCORE, record["text"]


def compare_lines_of_text(record, image):
    """The README has no boxes; the lines that its text recognition reads are where they are found."""
    found = boxes(record, image)
    for x, y, w, h in [(513, 390, 156, 18), (514, 331, 183, 18)]:
        assert any(overlap(f[2], (x, y, x + w, y + h)) > 0.5 for f in found), (x, y, [f[2] for f in found])


def compare_picture(pixels, expected):
    assert len(pixels) == 672 * 672, len(pixels)
    mean = sum(pixels) / len(pixels) / 255
    assert abs(mean - expected["mean"]) <= 0.02, mean


def embedding(data, tmp, model, image, rectangle):
    _, _, out = play(data, tmp, image, rectangle, model, RESULTS)
    values = json.loads(out.splitlines()[0])["embedding"]
    norm = math.sqrt(sum(v * v for v in values))
    return [v / norm for v in values]


def check(data, tmp, folder, meta, one):
    model, name, image = os.path.join(folder, "model.onnx"), meta["name"], os.path.basename(one["image"].split(" ")[-1].strip("()"))
    expected, rectangle = one["reference_result"], one.get("preprocess", {}).get("crop")
    if name.startswith("osnet"):
        a, b = (embedding(data, tmp, model, image, r) for r in ((464, 44, 152, 451), (197, 60, 146, 430)))
        cosine = sum(x * y for x, y in zip(a, b))
        assert abs(cosine - expected[0]["cosine"][0][2]) <= 0.03, cosine
        return
    code, log, out = play(data, tmp, image, rectangle, model, PICTURE if name.startswith("superres") else RESULTS)
    if name in WARNED:
        assert WARNED[name] in log, log
        return
    assert code == 0, log
    if name.startswith("superres"):
        compare_picture(out, expected[0])
        return
    records = [json.loads(line) for line in out.splitlines()]
    assert len(records) == 1, f"{len(records)} records: {log}"
    record, first = records[0], expected[0]
    if "box" in first:
        compare_boxes(record, expected, image)
    elif "text" in first:
        compare_text(record, first)
    elif "kp" in first:
        compare_points(record, [(e["x"], e["y"], e["score"]) for e in expected], 30)
    elif "first5" in first:
        w, h = rectangle[2:]
        compare_points(record, [(x * w / 256, y * h / 256, 1) for x, y, _ in first["first5"]], 10)
        assert len(record["keypoints"]) == first["n"]
    elif "frac_gt_0_3" in first:
        compare_lines_of_text(record, image)
    elif "frac" in first and name.startswith("sinet"):
        compare_matte(record, expected)
    elif "frac" in first:
        compare_classes(record, expected, "frac", "segmentation", SCORE)
    else:
        compare_classes(record, expected, "score", "classification", BETWEEN_CLASSES.get(name, CLASS_SCORE))


def main():
    data, wanted = os.environ.get("AXON_TEST_DATA", sys.argv[1]), sys.argv[2:]
    if not os.path.isdir(os.path.join(data, "media")):
        print(f"no media in {data} (set AXON_TEST_DATA)")
        return 77
    n = bad = 0
    with tempfile.TemporaryDirectory() as tmp:
        for path in sorted(glob.glob(data + "/models/*/meta.json") + glob.glob(data + "/families/*/meta.json")):
            with open(path, encoding="utf-8") as file:
                meta = json.load(file)
            if wanted and meta["name"] not in wanted:
                continue
            for i, one in enumerate(meta["data_sets"]):
                n += 1
                try:
                    check(data, tmp, os.path.dirname(path), meta, one)
                    print("pass", meta["name"], i, flush=True)
                except (AssertionError, KeyError, IndexError, ValueError, subprocess.TimeoutExpired) as error:
                    bad += 1
                    print("FAIL", meta["name"], i, f"{type(error).__name__}: {str(error)[:1500]}", flush=True)
    print(f"{n - bad} passed, {bad} failed")
    return bad != 0


sys.exit(main())
