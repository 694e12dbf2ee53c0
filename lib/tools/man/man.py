#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A man page: the lines of PAGE with @OPTIONS@ replaced by what TOOL --help lists. usage: man.py TOOL VERSION PAGE OUT"""
import os, re, subprocess, sys


def escape(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def options(tool):
    listed = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True,
                            env=dict(os.environ, LC_ALL="C.UTF-8", LANGUAGE="")).stdout
    for line in listed.splitlines():
        found = re.match(r"  (?:(-\w), )?(--[\w-]+)(?:=(\S+))?  +(.*)", line)
        if found:
            short, name, value, blurb = found.groups()
            yield ".TP"
            yield ((rf"\fB{escape(short)}\fR, " if short else "") + rf"\fB{escape(name)}\fR"
                   + (rf"=\fI{escape(value)}\fR" if value else ""))
            yield escape(blurb)


tool, version, page, out = sys.argv[1:]
listed = list(options(tool))
if not listed:
    sys.exit(f"{page}: {tool} --help lists no options")
with open(page, encoding="utf-8") as source, open(out, "w", encoding="utf-8") as target:
    target.write(source.read().replace("@OPTIONS@", "\n".join(listed)).replace("@VERSION@", version))
