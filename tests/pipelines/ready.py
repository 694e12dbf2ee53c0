#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ready.py PIPELINES BUILT SCHEMA DATA CAMERA: the ready pipelines, each as it is run, with the events that it must find
(golden/NAME.jsonl): the same words in the same order, numbers as near as levels of instructions make them. Of pictures
(golden/NAME-picture.jsonl) in parts: how bright they are, and how much there is to see, which is less where they are blurred."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

scripts, built, schema = (pathlib.Path(p) for p in sys.argv[1:4])
data = pathlib.Path(os.environ.get("AXON_TEST_DATA") or sys.argv[4])
golden = pathlib.Path(__file__).parent / "golden"
if not (data / "media").is_dir():
    print(f"no media in {data} (set AXON_TEST_DATA)")
    sys.exit(77)
out = pathlib.Path(tempfile.mkdtemp())
failed = 0


def run(command, frames):
    env = dict(os.environ, OUT=str(out), AXON_DATA=str(data), FRAMES=str(frames))
    done = subprocess.run([str(c) for c in command], env=env, capture_output=True, text=True, timeout=240)
    if done.returncode:
        raise AssertionError(f"ended with {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


def lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def records(name):
    path = out / f"{name}.jsonl"
    checked = subprocess.run([sys.executable, pathlib.Path(__file__).parents[1] / "support/schema.py", schema, path],
                             capture_output=True, text=True)
    assert checked.returncode in (0, 77), checked.stdout
    return lines(path.read_text())


def is_near(a, b, slack):
    """b is golden: what it does not have does not count."""
    if isinstance(b, dict):
        return isinstance(a, dict) and all(k in a and is_near(a[k], b[k], slack.get(k, slack)
                                                              if isinstance(slack, dict) else slack) for k in b)
    if isinstance(b, list):
        return isinstance(a, list) and len(a) == len(b) and all(is_near(x, y, slack) for x, y in zip(a, b))
    if isinstance(b, (int, float)) and not isinstance(b, bool):
        return abs(a - b) <= (slack if isinstance(slack, (int, float)) else 0)
    return a == b


def compare(name, found, slack=0):
    wanted = lines((golden / f"{name}.jsonl").read_text())
    assert len(found) == len(wanted) and all(is_near(f, w, slack) for f, w in zip(found, wanted)), \
        f"expected {wanted}, found {found}"


def events(found):
    return [event for record in found for event in record.get("events", [])]


def brightness_and_detail(gray, width, height):
    """A row of parts a line, each the mean of its pixels and of their difference from the next one."""
    side = 40
    for y in range(0, height, side):
        row = [[gray[r * width + x:r * width + x + side] for r in range(y, y + side)] for x in range(0, width, side)]
        yield {"brightness": [round(sum(map(sum, part)) / side ** 2) for part in row],
               "detail": [round(sum(abs(a - b) for line in part for a, b in zip(line, line[1:])) / side ** 2, 1) for part in row]}


def compare_picture(name, golden_name):
    """The last frame."""
    raw, width, height = out / "raw", 480, 360
    run(["gst-launch-1.0", "-q", "filesrc", f"location={out / name}.mkv", "!", "matroskademux", "!", "jpegdec", "!", "videoconvert",
         "!", "videoscale", "!", f"video/x-raw,format=GRAY8,width={width},height={height}", "!", "filesink", f"location={raw}"], "")
    frame = raw.read_bytes()[-width * height:]
    compare(golden_name, list(brightness_and_detail(frame, width, height)), {"brightness": 8, "detail": 2})


def people_counter():
    run(["bash", scripts / "people-counter.sh"], 300)
    compare("people-counter", events(records("people-counter")), {"running-time": 6e8})
    assert (out / "people-counter.mkv").stat().st_size > 100000


def reading_text():
    run(["bash", scripts / "reading-text.sh"], "")
    texts = [{"text": o["text"]["label"]} for o in records("reading-text")[0]["objects"]
             if o.get("text", {}).get("confidence", 0) > 0.8]
    compare("reading-text", texts)


def recorder():
    """The piece in which somebody crosses the line, one before and one behind it; nothing else is left."""
    run([built / "record-events", "--settings", scripts / "people-counter.json", "--out", out, "--frames", 300], "")
    kept = sorted(p.name for p in out.glob("event-*.mkv"))
    told = [p for p in kept if (out / f"{p}.jsonl").read_text()]
    assert len(kept) == 3 and told == kept[1:2], (kept, told)
    compare("people-counter", lines((out / f"{told[0]}.jsonl").read_text()), {"running-time": 6e8})


def rule_in_c():
    compare("standing", lines(run([built / "standing"], 150)), {"since": 0.6})


def rule_in_python():
    probe = "import gi; gi.require_version('Gst', '1.0'); gi.require_version('GstNn', '1.0')"
    if subprocess.run(["/usr/bin/python3", "-c", probe], capture_output=True).returncode:
        return "skipped: python3-gi or the introspection data are not there"
    compare("walkers", lines(run(["/usr/bin/python3", scripts / "walkers.py"], "")), {"dog": 4})


def face_blur():
    run(["bash", scripts / "face-blur.sh"], "")
    faces = [{k: o[k] for k in "xywh"} for o in records("face-blur")[0]["objects"]]
    compare("face-blur", sorted(faces, key=lambda face: face["x"]), 5)
    compare_picture("face-blur", "face-blur-picture")


def face_landmarks():
    """Eight faces from left to right: a mesh each, of which the corners of the eyes, the nose, a lip and the chin."""
    run(["bash", scripts / "face-landmarks.sh"], "")
    meshes = [o["keypoints"] for o in records("face-landmarks")[0]["objects"]]
    named = [{"points": len(mesh), "named": [{k: mesh[i][k] for k in "xy"} for i in (33, 263, 1, 13, 152)]} for mesh in meshes]
    compare("face-landmarks", sorted(named, key=lambda mesh: mesh["named"][2]["x"]), {"named": 6, "points": 0})
    compare_picture("face-landmarks", "face-landmarks-picture")


def background():
    if subprocess.run(["gst-inspect-1.0", "--exists", "alphacombine"]).returncode:
        return "skipped: alphacombine is not there"
    run(["bash", scripts / "background.sh"], 10)
    compare_picture("background", "background-blurred")
    run(["bash", scripts / "background.sh", data / "media/asl-walk.mkv", data / "media/horse-cart.jpg"], 10)
    compare_picture("background", "background-replaced")


def wall():
    """What the cameras see within a second."""
    run(["bash", scripts / "wall.sh"], 30)
    seen = [{"camera": r["source"], "objects": sorted(o["detection"]["label"] for o in r["objects"])}
            for n in range(4) for r in records(f"wall-{n}")[5:6]]
    compare("wall", seen)
    compare_picture("wall", "wall-picture")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(path, word, times=1):
    end = time.monotonic() + 100
    while path.read_text().count(word) < times and time.monotonic() < end:
        time.sleep(0.05)
    assert path.read_text().count(word) >= times, f"no {word!r} in {path.read_text()}"


def watch(port):
    """Ten frames, as a player gets them. How it leaves does not count: at the end of a stream rtspsrc says at times
    that it could not send its PAUSE."""
    left = subprocess.run(["gst-launch-1.0", "-q", "rtspsrc", f"location=rtsp://127.0.0.1:{port}/faces", "protocols=tcp", "!",
                           "rtpjpegdepay", "!", "jpegdec", "!", "identity", "eos-after=11", "!", "multifilesink",
                           f"location={out}/seen%d"], capture_output=True, text=True, timeout=240)
    seen = list(out.glob("seen*"))
    for frame in seen:
        frame.unlink()
    assert len(seen) == 10, f"{len(seen)} frames seen: {left.stderr}"


def rtsp_relay():
    """A camera that comes late, is killed and comes again."""
    relay, camera = built / "rtsp-relay", pathlib.Path(sys.argv[5])
    if not relay.exists():
        return "skipped: gst-rtsp-server is not there"
    ports, said, found = [free_port(), free_port()], out / "said", out / "found"
    command = [camera, str(ports[0]), data / "media/asl-walk.mkv"]
    started = []
    try:
        started.append(subprocess.Popen([relay, "--port", str(ports[1]), "--data", data, f"rtsp://127.0.0.1:{ports[0]}/camera"],
                                        stderr=said.open("w"), stdout=found.open("w")))
        wait_for(said, "again in")
        for n in (1, 2):
            started.append(subprocess.Popen(command))
            wait_for(said, "camera: connected", n)
            watch(ports[1])
            started[-1].kill()
            started[-1].wait()
            wait_for(said, "again in", said.read_text().count("connected") + 1)
        started[0].terminate()
        assert started[0].wait(60) == 0
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert '"label":"face"' in found.read_text()


chosen = os.environ.get("READY", "")  # only this one
for test in (people_counter, reading_text, recorder, rule_in_c, rule_in_python, face_blur, face_landmarks, background, wall, rtsp_relay):
    if chosen not in ("", test.__name__):
        continue
    try:
        print("pass", test.__name__, test() or "")
    except (AssertionError, subprocess.TimeoutExpired) as error:
        failed += 1
        print("FAIL", test.__name__, str(error)[:2000])
subprocess.run(["rm", "-r", out], check=True)
sys.exit(failed != 0)
