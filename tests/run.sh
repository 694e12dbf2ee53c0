#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs what is missing, builds, runs every suite. With --brief a release build, the unit tests, and real models on
# CPU and TEMPLATE. With --levels everything at each level of instructions that the processor has. With the others
# some suites under gcc's ASan and UBSan, clang's ThreadSanitizer, valgrind.
# usage: tests/run.sh [--brief | --levels | --sanitize | --thread | --valgrind]
set -eu
cd "$(dirname "$0")/.."
. .ci/packages.sh
install_packages $BUILD_PACKAGES $TEST_PACKAGES

# run_tests FOLDER [ARGUMENT...]: and one closing line that says what ran.
run_tests() {
  local folder=$1 status=0
  shift
  meson test -C "$folder" --no-rebuild --print-errorlogs "$@" || status=$?
  python3 - "$folder/meson-logs/testlog*.json" <<'PY'
import glob, json, os, sys
results = [json.loads(line)["result"] for line in open(max(glob.glob(sys.argv[1]), key=os.path.getmtime))]
count = lambda *names: sum(r in names for r in results)
print(f"{count('OK')} passed, {count('FAIL', 'ERROR', 'TIMEOUT', 'UNEXPECTEDPASS')} failed, {count('SKIP')} skipped")
PY
  return $status
}

case ${1:-} in
  "")
    build _build/tests
    run_tests _build/tests
    ;;
  --brief)
    build _build/brief --buildtype=release -Dintrospection=disabled
    run_tests _build/brief --suite unit --suite brief
    ;;
  --levels)
    build _build/tests
    AXON_PLUGIN_PATH=$PWD/_build/tests/plugins/cpu bash tests/support/levels.sh _build/tests/lib/tools/axon-inspect \
      meson test -C _build/tests --no-rebuild --print-errorlogs --no-suite style --no-suite levels
    ;;
  --sanitize)
    build _build/sanitize -Db_sanitize=address,undefined -Db_lundef=false -Dintrospection=disabled
    run_tests _build/sanitize --setup sanitizer --suite unit --suite behaviour --suite ops --suite elements
    ;;
  --thread)
    install_packages $CLANG_PACKAGES
    CC=clang build _build/thread -Db_sanitize=thread -Db_lundef=false -Dintrospection=disabled
    # --suite overrides what the setup leaves out
    run_tests _build/thread --setup thread --no-suite untraced --suite unit --suite behaviour --suite elements
    ;;
  --valgrind)
    install_packages $VALGRIND_PACKAGES
    build _build/tests
    run_tests _build/tests --setup valgrind --suite unit
    ;;
  *)
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
    ;;
esac
