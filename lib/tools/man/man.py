#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A man page: the lines of PAGE with @OPTIONS@ replaced by what HELP, a tool's --help, lists. usage: man.py VERSION HELP PAGE OUT"""
import re, sys


def escape(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def options(lines):
    for line in lines:
        found = re.match(r"  (?:(-\w), )?(--[\w-]+)(?:=(\S+))?  +(.*)", line)
        if found:
            short, name, value, blurb = found.groups()
            yield ".TP"
            yield ((rf"\fB{escape(short)}\fR, " if short else "") + rf"\fB{escape(name)}\fR"
                   + (rf"=\fI{escape(value)}\fR" if value else ""))
            yield escape(blurb)


version, help_text, page, out = sys.argv[1:]
with open(help_text, encoding="utf-8") as source:
    listed = list(options(source))
if not listed:
    sys.exit(f"{page}: {help_text} lists no options")
with open(page, encoding="utf-8") as source, open(out, "w", encoding="utf-8") as target:
    target.write(source.read().replace("@OPTIONS@", "\n".join(listed)).replace("@VERSION@", version))
