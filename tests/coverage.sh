#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Lines and branches that the tests run, by room: a build with gcov, the named suites (without: all but style), and a table in Markdown.
# Where a test was killed, what it ran is lost. --table: only the table of what was run before.
# usage: tests/coverage.sh [--table | SUITE...]
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) sed -n 's/^# usage: /usage: /p' "$0" && exit ;; esac
. .ci/packages.sh
install_packages $BUILD_PACKAGES $TEST_PACKAGES gcovr
build=_build/coverage
if [ "${1:-}" != --table ]; then
  build "$build" -Db_coverage=true -Dbuildtype=debug -Dintrospection=disabled
  find "$build" -name '*.gcda' -delete
  suites=(--no-suite style --no-suite installed)
  [ $# = 0 ] || suites=("${@/#/--suite=}")
  meson test -C "$build" --no-rebuild --num-processes 1 --timeout-multiplier 4 "${suites[@]}" || echo "some tests failed" >&2
fi
# Kernels that are compiled for several levels count once, as the best run one of them.
gcovr --root . --filter 'lib/' --filter 'gst/' --filter 'plugins/' --exclude-throw-branches --exclude '.*tests/.*' --exclude 'lib/tools/.*' \
  --gcov-ignore-parse-errors --json-summary "$build/coverage.json" "$build" >/dev/null
/usr/bin/python3 - "$build/coverage.json" <<'E2'
import collections, json, os, sys
rooms = collections.defaultdict(lambda: [0, 0, 0, 0])
for file in json.load(open(sys.argv[1]))["files"]:
    parts = os.path.dirname(file["filename"]).split("/")
    for room in ["/".join(parts[:3] if parts[:2] == ["lib", "runtime"] else parts[:2]), parts[0]]:
        for i, key in enumerate(["line_covered", "line_total", "branch_covered", "branch_total"]):
            rooms[room][i] += file[key]
percent = lambda n, of: f"{100 * n / of:.1f} %" if of else ""
print("| room | lines | of | branches | of |\n|---|---|---|---|---|")
for room, (lines, all_lines, branches, all_branches) in sorted(rooms.items()):
    print(f"| {room} | {percent(lines, all_lines)} | {all_lines} | {percent(branches, all_branches)} | {all_branches} |")
E2
