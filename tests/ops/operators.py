#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/operators.md is what the operator table says, and every operator that device CPU leaves to the
reference kernel stands in cpu-reference.txt under a reason.
usage: operators.py AXON_INSPECT ROOT"""
import os
import pathlib
import re
import subprocess
import sys

inspect, root = sys.argv[1], pathlib.Path(sys.argv[2])
os.environ["AXON_GPU_ALLOW_CPU"] = "1"
page = subprocess.run([inspect, "--operators", "--markdown"], check=True, capture_output=True, text=True).stdout
page = page.replace("xnnpack, ", "")  # what only some builds have
gpu = subprocess.run([inspect, "--device", "GPU"], capture_output=True, check=False).returncode == 0
problems = []


def comparable(text):
    """Without column GPU where there is no such device."""
    return text if gpu else re.sub(r"^(\| .*\|) [^|]*\|$", r"\1", text, flags=re.M)


if not gpu:
    print("no OpenCL device: column GPU is not checked")
if comparable((root / "docs/operators.md").read_text()) != comparable(page):
    problems.append("docs/operators.md is stale: AXON_GPU_ALLOW_CPU=1 axon-inspect --operators --markdown > docs/operators.md")

# The newest row of each operator decides.
kernel = {}
for name, kind in re.findall(r"^\| (\S+) \| [^|]* \| [^|]* \| ([^|]+) \| [^|]*\|$", page, re.M):
    kernel[name] = kind
left = {name for name, kind in kernel.items() if kind == "reference"}

listed, reason = {}, None
for line in (root / "tests/ops/cpu-reference.txt").read_text().splitlines():
    if line.startswith("= "):
        reason = line[2:]
    elif line and not line.startswith("#"):
        for name in line.split():
            if reason is None or name in listed:
                problems.append(f"{name}: no reason, or listed twice")
            listed[name] = reason
for name in sorted(left - set(listed)):
    problems.append(f"{name} runs the reference kernel on CPU and is not listed in cpu-reference.txt")
for name in sorted(set(listed) - left):
    problems.append(f"{name} is listed in cpu-reference.txt and has a kernel, or does not exist")
print("\n".join(problems) or f"{len(kernel)} operators, {len(left)} with the reference kernel on CPU")
sys.exit(bool(problems))
