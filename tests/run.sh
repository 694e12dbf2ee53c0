#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs what is missing, builds, runs every suite.
# usage: tests/run.sh [--sanitize | --thread | --valgrind]   (gcc's ASan and UBSan; clang's ThreadSanitizer; valgrind)
set -eu
cd "$(dirname "$0")/.."
. .ci/packages.sh
install_packages $BUILD_PACKAGES $TEST_PACKAGES
case ${1:-} in
  --sanitize)
    build=_build/sanitize
    [ -f $build/build.ninja ] ||
      meson setup $build -Db_sanitize=address,undefined -Db_lundef=false -Dintrospection=disabled >/dev/null
    ninja -C $build --quiet
    exec meson test -C $build --no-rebuild --print-errorlogs --setup sanitizer --suite unit --suite behaviour --suite ops --suite elements
    ;;
  --thread)
    install_packages clang libomp-dev libclang-rt-14-dev
    build=_build/thread
    [ -f $build/build.ninja ] ||
      CC=clang meson setup $build -Db_sanitize=thread -Db_lundef=false -Dintrospection=disabled >/dev/null
    ninja -C $build --quiet
    exec meson test -C $build --no-rebuild --print-errorlogs --setup thread --suite unit --suite behaviour
    ;;
  --valgrind)
    install_packages valgrind
    build=_build/tests
    [ -f $build/build.ninja ] || meson setup $build >/dev/null
    ninja -C $build --quiet
    exec meson test -C $build --no-rebuild --print-errorlogs --setup valgrind --suite unit
    ;;
esac
build=_build/tests
[ -f $build/build.ninja ] || meson setup $build >/dev/null
ninja -C $build --quiet
status=0
meson test -C $build --no-rebuild --print-errorlogs || status=$?
# One closing line that says what ran.
python3 - $build/meson-logs/testlog.json <<'PY'
import json, sys
results = [json.loads(line)["result"] for line in open(sys.argv[1])]
count = lambda *names: sum(r in names for r in results)
print(f"{count('OK')} passed, {count('FAIL', 'ERROR', 'TIMEOUT', 'UNEXPECTEDPASS')} failed, {count('SKIP')} skipped")
PY
exit $status
