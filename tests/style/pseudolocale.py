#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds what users read and translators never saw: in a language that puts every message in brackets, every line of
--help, of axon-inspect and of the elements' descriptions has them, and so have errors.
usage: pseudolocale.py SOURCE PRELOAD RUN INSPECT BENCH COMPILE [--elements]"""
import json
import os
import re
import subprocess
import sys
import tempfile

SOURCE, PRELOAD, RUN, INSPECT, BENCH, COMPILE = sys.argv[1:7]
OPEN, CLOSE = "⟦", "⟧"
# Lines that are GLib's, and values that are names or addresses.
OF_GLIB = re.compile(r"^(Usage:|Help Options:|Application Options:|  -h, --help|  axon-\w+ \[OPTION…\]|$)")
# GLib's, which it translates itself.
ERROR_OF_GLIB = re.compile(r"(Failed to open|Error opening) file")
# A call that makes an error, up to its end, and the texts in it.
ERROR = re.compile(r'\bg_(?:set_error|error_new|prefix_error|propagate_prefixed_error)(?:_literal)? \(((?:"(?:\\.|[^"\\])*"|[^";])*);')
TEXT = re.compile(r'"((?:\\.|[^"\\])*)"')
# A property's row whose text ends it, or is named, without N_.
BARE_ROW = re.compile(r'\.blurb =\s*"|AXON_PROPERTY_\w+,[^{}]*?,\s*"[^"]* [^"]*"\s*\}')
failures = 0


def check(sentence, wrong):
    global failures
    print(f"{'not ok' if wrong else 'ok'} - {sentence}" + "".join(f"\n    {w}" for w in wrong[:20]))
    failures += bool(wrong)


def in_brackets(message):
    """Quoted lines, as catalogues have them; what ends with a line's end still does."""
    end = r"\n" if message.endswith(r'\n"') else ""
    inside = message[:-len(end) - 1] + '"' if end else message
    return f'"{OPEN}"\n{inside}\n"{CLOSE}{end}"'


def make_catalogue(folder):
    """The messages of the sources, each between brackets, as a language "xx"."""
    pot, po = os.path.join(folder, "axon.pot"), os.path.join(folder, "xx.po")
    files = [line for line in open(os.path.join(SOURCE, "po/POTFILES"), encoding="utf-8").read().split("\n") if line and line[0] != "#"]
    subprocess.run(["xgettext", "--from-code=UTF-8", "-k_", "-kN_", "-kg_dngettext:2,3", "-o", pot, *files], cwd=SOURCE, check=True)
    text = open(pot, encoding="utf-8").read().replace("CHARSET", "UTF-8", 1).replace("nplurals=INTEGER; plural=EXPRESSION;", "nplurals=2; plural=n != 1;")
    head, *entries = re.split(r"\n\n", text)
    with open(po, "w", encoding="utf-8") as out:
        out.write(head + "\n")
        for entry in entries:
            forms = dict(re.findall(r'^(msgid|msgid_plural) ((?:".*"\n?)+)', entry, re.M))
            out.write("\n" + "".join(f"{key} {text.rstrip()}\n" for key, text in forms.items()))
            keys = ["msgstr"] if len(forms) == 1 else ["msgstr[0]", "msgstr[1]"]
            out.write("".join(f"{key} {in_brackets(text.rstrip())}\n" for key, text in zip(keys, forms.values())))
    os.makedirs(os.path.join(folder, "xx/LC_MESSAGES"))
    subprocess.run(["msgfmt", "-o", os.path.join(folder, "xx/LC_MESSAGES/axon-1.0.mo"), po], check=True)
    return len(entries)


def call(*command):
    done = subprocess.run(command, env=ENV, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def unmarked(lines):
    return [line for line in lines if OPEN not in line]


def test_help():
    for tool in (RUN, INSPECT, BENCH, COMPILE):
        out, _ = call(tool, "--help")
        check(f"{os.path.basename(tool)} --help", unmarked(line for line in out.split("\n") if not OF_GLIB.match(line)))


def test_devices():
    devices = json.loads(call(INSPECT, "--json")[0])["devices"]
    for device in devices:
        check(f"axon-inspect --device={device['name']}", [p["key"] + ": " + p["blurb"] for p in device["properties"] if OPEN not in p["blurb"]])


def find_all(pattern, *tops):
    """What matches in sources, with file and line."""
    for top in tops:
        for folder, _, files in os.walk(os.path.join(SOURCE, top)):
            for path in (os.path.join(folder, name) for name in files if name.endswith(".c")):
                text = open(path, encoding="utf-8").read()
                yield from ((f"{os.path.relpath(path, SOURCE)}:{text[:m.start()].count(chr(10)) + 1}", m) for m in pattern.finditer(text))


def test_rows():
    """Those of devices, too, that this machine has not."""
    check("the text of every property is marked", [where for where, _ in find_all(BARE_ROW, "lib", "plugins")])


def says_words(call):
    return any(re.search("[a-z]{2}", re.sub(r"%[-+.0-9*]*(?:z|ll?)?[a-z]|\\.", "", text)) for text in TEXT.findall(call))


def test_marks():
    """Those, too, that nobody can provoke. What operators say of models by FAIL is English (po/glossary.md)."""
    calls = find_all(ERROR, "lib", "plugins", "gst")
    check("every error is marked", [where for where, m in calls if says_words(m[1]) and not re.search(r"\b_ \(|g_dngettext", m[1])])


def test_errors(folder):
    """Each is what somebody who begins will do wrong."""
    empty, text, ball = (os.path.join(folder, name) for name in ("empty.onnx", "text.onnx", "ball.onnx"))
    open(empty, "w", encoding="utf-8").close()
    with open(text, "w", encoding="utf-8") as f:
        f.write("this is no model")
    os.symlink(os.path.join(SOURCE, "pipelines/quickstart/ball.onnx"), ball)
    for command in ([RUN, os.path.join(folder, "none.onnx")], [RUN, folder], [RUN, empty], [RUN, text], [RUN, ball], [RUN, "-d", "NOSUCH", ball],
                    [BENCH, "-d", "CPUU", ball], [BENCH, "-c", "NOSUCH=1", ball], [BENCH, "-c", "PERF_COUNT=MAYBE", ball],
                    [BENCH, "-c", "NUM_STREAMS", ball], [BENCH, "-s", "x", ball], [BENCH, "-s", "1,1,1", ball], [BENCH, "--report", "x.html", text + ".json"],
                    [INSPECT, "-d", "NOSUCH"], [INSPECT, text], [COMPILE, "-s", "1,2", "-o", os.path.join(folder, "o.axon"), ball],
                    [COMPILE, "-o", os.path.join(folder, "no/such/folder.axon"), ball], [RUN, "-x", "nosuch.so", ball],
                    [BENCH, "-d", "HETERO", ball], [BENCH, "-d", "MULTI", ball], [BENCH, "-d", "REMOTE", ball],
                    [RUN, os.path.join(folder, "none.axon")], [RUN, "-i", os.path.join(folder, "none.png"), ball],
                    [RUN, "-i", os.path.join(folder, "none.npy"), ball], [RUN, "-i", os.path.join(folder, "none.pb"), ball]):
        out, error = call(*command)
        name = " ".join(os.path.basename(word) for word in command)
        check(f"the error of {name}", [] if OPEN in error or ERROR_OF_GLIB.search(error) else [error.strip() or f"nothing is said: {out}"])


def values_of(enum_class, get_value):
    """PyGObject before 3.50 makes a type of the class, then it is the class itself."""
    known = getattr(enum_class, "__enum_values__", None)
    if known is not None:
        return known.values()
    return filter(None, (get_value(enum_class, v) for v in range(enum_class.minimum, enum_class.maximum + 1)))


def texts_of_elements():
    """Runs in a process that has the language from its start. What an element is in one sentence is not among them:
    GStreamer's registry keeps it, whatever language the next process has."""
    import locale

    import gi
    locale.setlocale(locale.LC_ALL, "")
    gi.require_version("Gst", "1.0")
    from gi.repository import GObject, Gst
    Gst.init(None)
    for factory in Gst.Registry.get().get_feature_list_by_plugin("nn"):
        name = factory.get_name()
        element = Gst.ElementFactory.make(name)
        for spec in element.list_properties():
            if spec.owner_type.name in ("GstElement", "GstObject", "GObject") or not spec.owner_type.name.startswith("GstNn"):
                continue
            yield f"{name}.{spec.name}", spec.blurb
            if spec.value_type.is_a(GObject.TYPE_ENUM) and spec.value_type.name.startswith("GstNn"):
                yield from ((f"{name}.{spec.name}={v.value_nick}", v.value_name)
                            for v in values_of(spec.enum_class, GObject.enum_get_value))


def test_elements():
    out, error = call(sys.executable, __file__, *sys.argv[1:7], "--texts")
    texts = [line.split("\t", 1) for line in out.strip().split("\n") if "\t" in line]
    check("there are elements", [] if len(texts) > 100 else [error])
    for element in sorted({name.split(".")[0] for name, _ in texts}):
        check(f"gst-inspect-1.0 {element}", [f"{n}: {t}" for n, t in texts if n.split(".")[0] == element and OPEN not in t])


if "--texts" in sys.argv:
    for where, seen in texts_of_elements():
        print(f"{where}\t{seen}")
    sys.exit(0)
with tempfile.TemporaryDirectory() as tmp:
    ENV = dict(os.environ, LC_ALL="C.UTF-8", LANGUAGE="xx", LD_PRELOAD=PRELOAD, AXON_TEST_LOCALES=tmp, GST_REGISTRY_1_0=os.path.join(tmp, "registry.bin"))
    print(f"{make_catalogue(tmp)} messages")
    if OPEN not in call(RUN)[1]:
        print("skipped: this libc translates nothing in the locale C.UTF-8")
        sys.exit(77)
    test_help()
    test_devices()
    test_rows()
    test_marks()
    test_errors(tmp)
    if "--elements" in sys.argv:
        test_elements()
sys.exit(failures > 0)
