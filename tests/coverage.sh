#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Lines and branches that the tests run, by room: a build with gcov, the named suites (without: all but style), and a table in Markdown.
# Where a test was killed, what it ran is lost. --table: only the table of what was run before. Lines that nobody ran are listed in
# _build/coverage/missed.txt.
# usage: tests/coverage.sh [--table | SUITE...]
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) sed -n 's/^# usage: /usage: /p' "$0" && exit ;; esac
. .ci/packages.sh
install_packages $BUILD_PACKAGES $TEST_PACKAGES
build=_build/coverage
if [ "${1:-}" != --table ]; then
  build "$build" -Db_coverage=true -Dbuildtype=debug -Dintrospection=disabled
  find "$build" -name '*.gcda' -delete
  suites=(--no-suite style --no-suite installed)
  [ $# = 0 ] || suites=("${@/#/--suite=}")
  meson test -C "$build" --no-rebuild --num-processes 1 --timeout-multiplier 4 "${suites[@]}" || echo "some tests failed" >&2
fi
# Kernels that are compiled for several levels count once: a line that any of them ran was run.
find "$PWD/$build" -name '*.gcda' -print0 | xargs -0 gcov --branch-probabilities --json-format --stdout 2>/dev/null |
  /usr/bin/python3 -c '
import collections, json, os, sys
files = collections.defaultdict(lambda: collections.defaultdict(dict))  # file, line: {-1: run, branch: taken}
for text in sys.stdin:
    if not text.startswith("{"):
        continue
    data = json.loads(text)
    for file in data["files"]:
        name = os.path.relpath(os.path.join(data["current_working_directory"], file["file"]), sys.argv[1])
        if not name.startswith(("lib/", "gst/", "plugins/")) or name.startswith("lib/tools/"):
            continue
        for line in file["lines"]:
            seen = files[name][line["line_number"]]
            for i, count in [(-1, line["count"]), *((i, b["count"]) for i, b in enumerate(line["branches"]))]:
                seen[i] = seen.get(i, False) or count > 0
rooms = collections.defaultdict(lambda: [0, 0, 0, 0])
for name, lines in files.items():
    parts = os.path.dirname(name).split("/")
    for room in ["/".join(parts[:3] if parts[:2] == ["lib", "runtime"] else parts[:2]), parts[0]]:
        for line in lines.values():
            taken = [run for i, run in line.items() if i >= 0]
            for i, n in enumerate([line[-1], 1, sum(taken), len(taken)]):
                rooms[room][i] += n
with open(os.path.join(sys.argv[2], "missed.txt"), "w") as out:
    for name, lines in sorted(files.items()):
        missed = sorted(n for n, line in lines.items() if not line[-1])
        print(f"{len(missed)} of {len(lines)} {name}:", *missed, file=out)
percent = lambda n, of: f"{100 * n / of:.1f} %" if of else ""
print("| room | lines | of | branches | of |\n|---|---|---|---|---|")
for room, (lines, all_lines, branches, all_branches) in sorted(rooms.items()):
    print(f"| {room} | {percent(lines, all_lines)} | {all_lines} | {percent(branches, all_branches)} | {all_branches} |")
' "$PWD" "$build"
