#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rules that a compiler does not check: who may include whom, POTFILES, formatting, cppcheck."""
import os
import re
import shutil
import subprocess
import sys

# The drawing of docs/design/architecture.md: a room of lib/ may include itself and those on lower floors; rooms on one
# floor do not know each other.
HOUSE = "docs/design/house.svg"
ROOMS = [(folder, int(floor), libraries.split(), int(y)) for folder, floor, libraries, y in re.findall(
    r'<g data-room="([\w/]+)" data-floor="(\d+)" data-libraries="([^"]*)">\n<rect x="\d+" y="(\d+)"', open(HOUSE, encoding="utf-8").read())]
ROOM = {folder[4:]: floor for folder, floor, _, _ in ROOMS if folder.startswith("lib/")}
# Libraries whose headers stand in no folder of their own; GLib's own and GStreamer's, which the folders tell, are not drawn.
LIBRARY_OF = {"xxhash.h": "xxhash", "sysprof-capture.h": "sysprof", "cairo.h": "cairo", "cairo-svg.h": "cairo", "mosquitto.h": "mosquitto",
              "xnnpack.h": "xnnpack", "pthreadpool.h": "xnnpack"}
NOT_DRAWN = {"glib", "gio", "gmodule", "gst", "axon", "math", "sys", "linux", "arpa", "netinet", "asm"}
PUBLIC = "lib/include"
# The rooms of public headers that have no source of the same name.
HEADER_ROOM = {"axonop.h": "model", "axongraph.h": "model", "axonimage.h": "ops", "axonwindow.h": "ops"}
UMBRELLAS = {"axon.h", "axon-plugin.h"}
problems = []


def sources(top):
    for folder, _, files in os.walk(top):
        for name in files:
            if name.endswith((".c", ".h")):
                yield os.path.join(folder, name)


def includes(path):
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        found = re.match(r'#include ([<"])([^>"]+)', line)
        if found:
            yield number, found.group(1), found.group(2)


def check_house():
    """Every folder of sources is a room, upper floors are drawn above, and who knows which library is written in the room."""
    folders = {os.path.join(top, name) for top in ("lib", "plugins", "gst") for name in os.listdir(top)
               if os.path.isdir(os.path.join(top, name)) and any(sources(os.path.join(top, name)))} - {PUBLIC, "gst/include"}
    drawn = [folder for folder, *_ in ROOMS]
    problems.extend(f"{HOUSE}: {folder} is drawn and not there, or twice" for folder in drawn if folder not in folders or drawn.count(folder) > 1)
    problems.extend(f"{HOUSE}: {folder} is not drawn" for folder in sorted(folders - set(drawn)))
    for folder, floor, libraries, y in ROOMS:
        problems.extend(f"{HOUSE}: {folder} is drawn above {other}" for other, higher, _, its in ROOMS
                        if floor < higher and y < its and folder.startswith("lib/"))
        seen = {LIBRARY_OF.get(name, name.split("/")[0]) for path in sources(folder) for _, kind, name in includes(path)
                if kind == "<" and (name in LIBRARY_OF or "/" in name)} - NOT_DRAWN
        if seen != set(libraries):
            problems.append(f"{HOUSE}: {folder} knows {' '.join(sorted(seen)) or 'no library'}, drawn is {' '.join(sorted(libraries)) or 'none'}")


def room_of(header):
    """The room that a public header shows: that of its source."""
    if header not in HEADER_ROOM:
        found = [f for f, _, files in os.walk("lib") if header[:-2] + ".c" in files]
        HEADER_ROOM[header] = os.path.relpath(found[0], "lib").split(os.sep)[0] if found else None
    return HEADER_ROOM[header]


def check_library(path):
    base = os.path.basename(path)
    public = path.startswith(PUBLIC)
    own = room_of(base) if public else os.path.relpath(path, "lib").split(os.sep)[0]
    if base in UMBRELLAS or own is None:
        return  # these show the rooms; headers of devices and of ONNXIFI know none
    for number, kind, name in includes(path):
        if kind == "<" and re.match(r"gst/|oneapi/|CL/|dnnl", name):
            problems.append(f"{path}:{number}: the library knows no {name}")
        if name.startswith("axon/"):
            room = room_of(os.path.basename(name))
        elif kind == '"':
            target = os.path.normpath(os.path.join(os.path.dirname(path), name))
            room = os.path.relpath(target, "lib").split(os.sep)[0]
        else:
            continue
        if own == "onnxifi" and kind == '"' and room in ROOM and room != "onnxifi":
            problems.append(f"{path}:{number}: a client of <axon/axon.h> includes nothing of {room}")
        if room in ROOM and room != own and ROOM[room] >= ROOM[own]:
            problems.append(f"{path}:{number}: room {own} may not include {room}")


def check_public():
    """What is installed includes only what is installed: by its public name, never what is private."""
    for top in (PUBLIC, "gst/include"):
        for path in sources(top):
            for number, kind, name in includes(path):
                ours = re.match(r"(axon|gst/nn)/", name)
                if kind == '"' or ours and not any(os.path.exists(f"{t}/{name}") for t in (PUBLIC, "gst/include")):
                    problems.append(f"{path}:{number}: an installed header includes {name}, which is not installed by that name")
                if name.startswith("axon/plugin/") and "/plugin/" not in path and os.path.basename(path) not in UMBRELLAS:
                    problems.append(f"{path}:{number}: a header for applications includes {name}, which is for devices")


def documented():
    """Blocks of gi-docgen, by name: of applications' functions in sources, of plugins' in headers."""
    return {name: block for top in ("lib", "gst") for path in sources(top)
            for name, block in re.findall(r"/\*\*\n \* (\w+):(.*?)\n \*/", open(path, encoding="utf-8").read(), re.S)}


def check_documented():
    """Every public function says what it does, what its arguments are, what it returns, and since when."""
    blocks = documented()
    for path in (p for top in (PUBLIC, "gst/include") for p in sources(top)):
        text = re.sub(r"\s*G_GNUC_\w+( \([\d, ]*\))?;", ";", open(path, encoding="utf-8").read())
        for returns, name, arguments in re.findall(r"^(?:AXON|GST_NN)_API (.*?)(\w+) \(([^;]*)\)[^;)]*;", text, re.M):
            if name.endswith("_get_type"):
                continue
            block = blocks.get(name)
            if block is None:
                problems.append(f"{path}: {name}() is not documented")
                continue
            arguments = re.sub(r"\(\*(\w+)\) \([^()]*\)", r"\1", arguments)
            missing = [a for a in re.findall(r"(\w+)(?:\[\])?(?:,|$)", arguments) if a != "void" and f"* @{a}:" not in block]
            prose = [line for line in block.split("\n")[1:] if re.match(r" \* [^@ ]", line)]
            if not prose:
                missing.append("what it does")
            if returns.strip() != "void" and "\n * Returns:" not in block:
                missing.append("Returns")
            if not re.search(r"^ \* Since: \d+\.\d+$", block, re.M):
                missing.append("Since")
            problems.extend(f"{path}: the comment of {name}() lacks {what}" for what in missing)


def check_outside(path):
    gst = path.startswith("gst" + os.sep)
    for number, kind, name in includes(path):
        if re.match(r"(\.\./)*lib/", name):
            problems.append(f"{path}:{number}: includes {name}, not <axon/axon.h>")
        if not gst and name.startswith("axon/plugin/"):
            problems.append(f"{path}:{number}: includes {name}, not <axon/axon-plugin.h>")
        if gst and kind == "<" and name.startswith("axon/") and name != "axon/axon.h":
            problems.append(f"{path}:{number}: elements include <axon/axon.h> only")
        if re.match(r"oneapi/", name) and not path.startswith(os.path.join("plugins", "cpu", "onednn")):
            problems.append(f"{path}:{number}: oneDNN's header belongs in plugins/cpu/onednn")
        if name in ("xnnpack.h", "pthreadpool.h") and not path.startswith(os.path.join("plugins", "cpu", "xnnpack")):
            problems.append(f"{path}:{number}: XNNPACK's header belongs in plugins/cpu/xnnpack")
        if re.match(r"CL/", name) and path != os.path.join("plugins", "gpu", "gpucl.h"):
            problems.append(f"{path}:{number}: OpenCL's header belongs in plugins/gpu/gpucl.h")
    # HETERO is what a user writes to be given nnquery's affinities.
    if gst and re.search(r'"(TEMPLATE|GPU|MULTI|AUTO|BATCH)"', open(path).read()):
        problems.append(f"{path}: elements name a device only where a user may write it")


REQUIREMENTS = {"P": 23, "Q": 11, "X": 11, "I": 7, "F": 3, "K": 10, "O": 10}


def check_requirements():
    """Every requirement names its tests, and every test named there is one."""
    functions, scripts = set(), ""
    for folder, _, files in os.walk("tests"):
        for name in files:
            if name.endswith(".c"):
                functions |= set(re.findall(r"^(\w+) \(", open(os.path.join(folder, name)).read(), re.M))
            elif name.endswith((".sh", ".py")):
                scripts += open(os.path.join(folder, name)).read()
    path, seen = "tests/requirements.txt", set()
    for number, line in enumerate(open(path), 1):
        if line.startswith("#") or not line.strip():
            continue
        key, _, tests = line.strip().partition(" ")
        seen.add(key)
        for sentence, function in re.findall(r'"([^"]+)"|(\S+)', tests):
            if (sentence and sentence not in scripts) or (function and function not in functions):
                problems.append(f"{path}:{number}: there is no test {sentence or function}")
    wanted = {f"{letter}{i}" for letter, last in REQUIREMENTS.items() for i in range(1, last + 1)}
    problems.extend(f"{path}: {key} has no test" for key in sorted(wanted - seen))


def check_potfiles():
    listed = {line.strip() for line in open("po/POTFILES") if line.strip() and line[0] != "#"}
    used = {p for top in ("lib", "gst", "plugins") for p in sources(top)
            if re.search(r"\b(N_|_) \(\"|\bg_dngettext \(", open(p).read())}
    for path in sorted(used - listed):
        problems.append(f"po/POTFILES: {path} is missing")
    for path in sorted(listed - used):
        problems.append(f"po/POTFILES: {path} has nothing to translate")


def check_translatable():
    """xgettext reads what the compiler's preprocessor has not seen: a message ends where a macro stands in it."""
    message = re.compile(r'\b(?:N_|_) \((?:\s*"(?:[^"\\\n]|\\.)*")*\s*[A-Z]\w+')
    for path in (p for top in ("lib", "gst", "plugins") for p in sources(top)):
        text = open(path, encoding="utf-8").read()
        for found in message.finditer(text):
            number = text[:found.start()].count("\n") + 1
            problems.append(f"{path}:{number}: a macro ends the message for translators (%zu, or %llu and a cast)")


def check_decoders():
    """Every decoder and every other name of one is in the documents."""
    text = open("docs/decoders.md", encoding="utf-8").read()
    code = "".join(open(p, encoding="utf-8").read() for p in sources("gst/decoders"))
    names = re.findall(r"\.name = \"([^\"]+)\"", code) + re.findall(r"\{ \"([\w-]+)\", \"[\w-]+\" \}", code)
    problems.extend(f"docs/decoders.md: {name} is missing" for name in sorted(set(names)) if f"`{name}`" not in text)


def check_clock():
    """The wall clock may be set at any time: durations are of g_get_monotonic_time() or of the pipeline."""
    clock = re.compile(r"\bg_get_real_time\b|\bg_date_time_new_now|\bgettimeofday\b|\bCLOCK_REALTIME\b|[^_\w]time \(NULL\)")
    for path in (p for top in ("lib", "gst", "plugins") for p in sources(top) if not p.startswith(os.path.join("lib", "tools"))):
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            if clock.search(line):
                problems.append(f"{path}:{number}: asks the wall clock")


def of_version(name, version):
    """The tool of that version: others format in another way, and raise other false alarms."""
    for candidate in (name, f"{name}-{version}"):
        path = shutil.which(candidate)
        if path and re.search(rf"\b{re.escape(version)}\b",
                              subprocess.run([path, "--version"], capture_output=True, text=True).stdout):
            return path
    print(f"{name} {version} (Debian 12's) is not installed: not run")
    return None


def check_format():
    tool = of_version("clang-format", "14")
    if tool is None:
        return
    files = [p for top in ("lib", "gst", "plugins", "tests", "docs") for p in sources(top)]
    for path in files:
        out = subprocess.run([tool, "--dry-run", "-Werror", path], capture_output=True, text=True)
        if out.returncode:
            problems.append(f"{path}: not formatted (clang-format -i {path})")


def check_cppcheck():
    tool = of_version("cppcheck", "2.10")
    if tool is None:
        return
    # varFuncNullUB: NULL is a pointer here. broken.c: a library that other programs' calls do not reach. G_DEFINE_TYPE and its like confuse it.
    types = [f"-D{m}(...)=" for m in ("G_DEFINE_TYPE", "G_DEFINE_ABSTRACT_TYPE", "G_DEFINE_BOXED_TYPE",
                                      "G_DECLARE_FINAL_TYPE", "G_DECLARE_DERIVABLE_TYPE", "G_DEFINE_EXTENDED_ERROR",
                                      "GST_ELEMENT_REGISTER_DECLARE", "GST_ELEMENT_REGISTER_DEFINE_WITH_CODE", "FAMILIES", "GST_NN_ELEMENTS",
                                      "GST_NN_DECODERS", "AXON_DEFINE_EXTENSION",
                                      "AXON_DEFINE_PLUGIN_INFO")]
    out = subprocess.run([tool, "--quiet", "--library=gtk", "--enable=warning,performance,portability",
                          "--inline-suppr", "--suppress=missingIncludeSystem", "--suppress=varFuncNullUB",
                          "--suppress=ctunullpointer:tests/onnxifi/broken.c",
                          "--suppress=invalidLifetime:tests/elements/whole*.c", # tensors of one turn, held by g_autoptr
                          "--template={file}:{line}: {message} [{id}]", *types, "-I", PUBLIC, "-I", "gst/include",
                          "-i", "plugins/gpu/cl", "lib", "plugins", "gst", "tests"], capture_output=True, text=True)
    problems.extend(re.findall(r"^(?:lib|plugins|gst|tests)/.*\[\w+\]$", out.stderr, re.M))


for p in sources("lib"):
    check_library(p)
for top in ("plugins", "gst"):
    for p in sources(top):
        check_outside(p)
check_house()
check_public()
check_documented()
check_potfiles()
check_translatable()
check_decoders()
check_clock()
check_requirements()
check_format()
check_cppcheck()
print("\n".join(problems) or "ok")
sys.exit(1 if problems else 0)
