#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs every block ```sh of the guides and of docs/appliances.md, those of a page one after the other in a folder of the page's own, where
pipelines and docs are those of the source. "```sh data" needs the folder of models and media, "```sh skip" is not run
(it installs something). What fails is named with file and line. usage: run.py SOURCE DATA [PAGE...]"""
import glob, os, re, subprocess, sys, tempfile

LIMIT = 240  # seconds: far beyond what any block takes


def blocks(path):
    text = open(path, encoding="utf-8").read()
    for found in re.finditer(r"^```sh *(\w*)\n(.*?)^```$", text, re.M | re.S):
        yield text[:found.start()].count("\n") + 2, found.group(1), found.group(2)


def run(script, folder, env):
    try:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return 124, f"not done after {LIMIT} seconds"


def try_page(path, source, data):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("pipelines", "docs"):
            os.symlink(os.path.join(source, name), os.path.join(folder, name))
        env = dict(os.environ, data=data, GST_REGISTRY_1_0=os.path.join(folder, "registry.bin"))
        for line, kind, script in blocks(path):
            where = f"{os.path.relpath(path, source)}:{line}"
            if kind == "skip" or (kind == "data" and not os.path.isdir(os.path.join(data, "media"))):
                print(f"skipped: {where}")
                continue
            if kind not in ("", "data"):
                print(f"not ok: {where}: a block is sh, sh data or sh skip, not sh {kind}")
                failed += 1
                continue
            status, output = run(script, folder, env)
            print(f"{'not ok' if status else 'ok'}: {where}")
            if status:
                print(f"exit status {status}:\n{output}")
                failed += 1
    return failed


def main(source, data, *pages):
    source, data = os.path.abspath(source), os.path.abspath(os.environ.get("AXON_TEST_DATA", data))
    pages = pages or sorted(glob.glob(os.path.join(source, "docs/guides/*.md"))) + [os.path.join(source, "docs/appliances.md")]
    sys.exit(1 if sum(try_page(os.path.abspath(page), source, data) for page in pages) else 0)


main(*sys.argv[1:])
