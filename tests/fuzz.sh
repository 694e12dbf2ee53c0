#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# One target of tests/fuzz/targets for that long, under clang's ASan and UBSan, from its corpus and FOLDERs of seeds on. What is
# found is left in _build/fuzz/found/TARGET, new inputs in _build/fuzz/corpus/TARGET; --merge instead of SECONDS puts the
# fewest of them that reach everything into the tree.
# usage: tests/fuzz.sh TARGET SECONDS|--merge [FOLDER...]
set -eu
cd "$(dirname "$0")/.."
if [ $# -lt 2 ] || [ ! -f "tests/fuzz/targets/$1.c" ]; then
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
fi
target=$1 seconds=$2
shift 2
. .ci/packages.sh
install_packages $BUILD_PACKAGES $CLANG_PACKAGES
[ -f _build/fuzz/build.ninja ] || CC=${FUZZ_CC:-clang} meson setup _build/fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false -Dintrospection=disabled \
  -Dgpu=disabled -Donnxifi=disabled -Dc_args="-fsanitize=fuzzer-no-link -fno-sanitize-recover=undefined" >/dev/null
ninja -C _build/fuzz --quiet fuzz-targets
kept=tests/fuzz/corpus/$target grown=_build/fuzz/corpus/$target found=_build/fuzz/found/$target
mkdir -p "$kept" "$grown" "$found"
export AXON_PLUGIN_PATH=$PWD/_build/fuzz/plugins/cpu:$PWD/_build/fuzz/plugins/template
export GST_PLUGIN_PATH_1_0= GST_REGISTRY_1_0=$PWD/_build/fuzz/registry.bin GST_REGISTRY_FORK=no
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:leak_check_at_exit=0 UBSAN_OPTIONS=print_stacktrace=1 G_SLICE=always-malloc
export LSAN_OPTIONS=suppressions=$PWD/tests/support/lsan.supp:print_suppressions=0
fuzz=(_build/fuzz/tests/fuzz/targets/fuzz-$target -artifact_prefix="$found/" -timeout=25 -rss_limit_mb=2048 -print_final_stats=1)
if [ "$seconds" = --merge ]; then
  "${fuzz[@]}" -set_cover_merge=1 -max_len=4096 "$kept" "$grown" "$@"
else
  "${fuzz[@]}" -max_total_time="$seconds" -max_len=4096 "$grown" "$kept" "$@"
fi
