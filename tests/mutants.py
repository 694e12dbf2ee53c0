#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do the tests notice? Mutants of lib/ and gst/, each with one operator or constant changed, drawn by a seed: each is built
and the suites that concern its file run until one fails. Works in a checkout of its own (_build/mutants), of what is committed.
What is not noticed is printed with its line, to be looked at: some mean the same, and the others lack a test.
With --build, in this tree and that build of it: then nobody else may work in either meanwhile.
usage: mutants.py [--seed N] [--number N] [--only PREFIX] [--suite NAME]... [--build FOLDER] [--list]"""
import argparse, os, random, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(ROOT, "_build/mutants")
TREE = os.path.join(WORK, "source")
BUILD = os.path.join(WORK, "build")
TIMES = "3"  # how much longer than usual a test may take before it counts as failed

CHANGES = [(r"==", "!="), (r"!=", "=="), (r"<=", "<"), (r">=", ">"), (r"(?<![<\-])<(?![<=])", "<="), (r"(?<![>\-])>(?![>=])", ">="),
           (r"&&", "||"), (r"\|\|", "&&"), (r"(?<=[\w)\]] )\+(?= [\w(])", "-"), (r"(?<=[\w)\]] )-(?= [\w(])", "+"),
           (r"(?<=[\w)\]] )\*(?= [\w(])", "+"), (r"\bTRUE\b", "FALSE"), (r"\bFALSE\b", "TRUE"), (r"(?<![\w.])[01](?![\w.])", None),
           (r"\+\+", "--"), (r"\bMIN\b", "MAX"), (r"\bMAX\b", "MIN")]

# Tests, in the order in which they run, by the longest prefix of a file that fits: names of Meson's, or suites.
SUITES = {
    "lib": ["unit", "fuzz", "ops", "behaviour", "onnx", "pipelines"],
    "lib/description": ["elements", "pipelines"],
    "lib/onnx": ["unit", "fuzz", "onnx", "behaviour"],
    "lib/onnxifi": ["unit", "onnx"],
    "lib/preprocess": ["unit", "ops", "behaviour", "elements"],
    "lib/runtime": ["unit", "behaviour", "elements", "faults"],
    "lib/tools": ["unit", "brief", "devices"],
    "gst": ["elements", "pipelines", "fuzz"],
}


def code_of(text):
    """The text with comments, strings, preprocessor lines blanked, so that places stay."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", blank, text, flags=re.M)


def in_function(code, at):
    return code[:at].count("{") > code[:at].count("}") and not re.search(r"^static const[^;{]*\{[^}]*$", code[:at], flags=re.M)


def sites(path):
    """(start, end, replacement) in the file."""
    code = code_of(open(path, encoding="utf-8").read())
    found = []
    for pattern, to in CHANGES:
        for m in re.finditer(pattern, code):
            line = code[code.rfind("\n", 0, m.start()) + 1:code.find("\n", m.start())]
            if line[:1] in " \t" and in_function(code, m.start()) and "g_assert" not in line and "g_return" not in line:
                found.append((m.start(), m.end(), to or str(int(m.group()) + 1)))
    return found


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", **options)


def prepare():
    """Checkout and build, of what is committed."""
    head = run("git", "rev-parse", "HEAD", cwd=ROOT).stdout.strip()
    if not os.path.isdir(TREE):
        os.makedirs(WORK, exist_ok=True)
        run("git", "worktree", "prune", cwd=ROOT)
        run("git", "worktree", "add", "--detach", TREE, head, cwd=ROOT, check=True)
    run("git", "checkout", "--force", "--detach", head, cwd=TREE, check=True)
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        run("meson", "setup", BUILD, TREE, "-Dintrospection=disabled", check=True)


def suites_of(name):
    return SUITES[max((p for p in SUITES if name.startswith(p + "/")), key=len)]


def notice(suites):
    """The test that failed, or None."""
    for suite in suites:
        done = run("meson", "test", "-C", BUILD, "--no-rebuild", "--maxfail", "1", "--timeout-multiplier", TIMES, "--suite", suite)
        failed = re.search(r"^\s*\d+/\d+ (?:\S+ / )?(\S+)\s+(?:FAIL|ERROR|TIMEOUT)", done.stdout, flags=re.M)
        if failed:
            return failed.group(1)
    return None


def draw(arguments, rng):
    """File, start, end, replacement of one mutant after another, none twice."""
    names = sorted(n for n in run("git", "ls-files", "lib/*.c", "gst/*.c", cwd=TREE).stdout.split() if n.startswith(arguments.only))
    weights = [len(sites(os.path.join(TREE, n))) for n in names]
    seen = set()
    while True:
        name = rng.choices(names, weights)[0]
        mutant = (name, *rng.choice(sites(os.path.join(TREE, name))))
        if mutant not in seen:
            seen.add(mutant)
            yield mutant


def try_one(number, suites, name, start, end, to):
    """True if noticed, False if not, None where it does not compile."""
    path = os.path.join(TREE, name)
    text = open(path, encoding="utf-8").read()
    line = text.count("\n", 0, start) + 1
    shown = " ".join(text.split("\n")[line - 1].split())
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text[:start] + to + text[end:])
        if run("ninja", "-C", BUILD).returncode:
            return None
        who = notice(suites or suites_of(name))
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    print(f"{number}: {who or 'NOT NOTICED'}: {name}:{line}: {text[start:end]} -> {to}: {shown}", flush=True)
    return who is not None


def main():
    global TREE, BUILD
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--only", default="")
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("--build")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.build or arguments.list:
        TREE, BUILD = ROOT, arguments.build
    else:
        prepare()
    mutants = draw(arguments, random.Random(arguments.seed))
    if arguments.list:
        for _ in range(arguments.number):
            print(*next(mutants))
        return
    built = run("ninja", "-C", BUILD)
    failed = built.stdout[-2000:] if built.returncode else notice(arguments.suite or sorted(set(sum(SUITES.values(), []))))
    if failed:
        sys.exit(f"without a mutant: {failed}")
    noticed = tried = 0
    while tried < arguments.number:
        result = try_one(tried + 1, arguments.suite, *next(mutants))
        if result is not None:
            tried += 1
            noticed += result
    print(f"{noticed} of {tried} noticed")


if __name__ == "__main__":
    main()
