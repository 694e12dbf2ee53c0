#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# One target of tests/fuzz/targets for that long, or each of them in turn, under clang's ASan and UBSan, from its corpus and FOLDERs
# of seeds on. What is found is left in _build/fuzz/found/TARGET, new inputs in _build/fuzz/corpus/TARGET, and a line says how many
# inputs were run, what of the code they reached, and how many findings there are; status 1: some. --merge instead of SECONDS puts
# the fewest inputs that reach everything into the tree.
# usage: tests/fuzz.sh TARGET|all SECONDS|--merge [FOLDER...]
set -u
cd "$(dirname "$0")/.."
all=$(cd tests/fuzz/targets && ls *.c | sed 's/\.c$//' | grep -vx 'fuzz\|main\|mutate')
if [ $# -lt 2 ] || ! grep -qx "$1" <<<"all
$all"; then
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
fi
targets=$1 seconds=$2
[ "$targets" != all ] || targets=$all
shift 2
. .ci/packages.sh
install_packages $BUILD_PACKAGES $CLANG_PACKAGES || exit
[ -f _build/fuzz/build.ninja ] || CC=${FUZZ_CC:-clang} meson setup _build/fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false -Dintrospection=disabled \
  -Dgpu=disabled -Donnxifi=disabled -Dsysprof=disabled -Dc_args="-fsanitize=fuzzer-no-link -fno-sanitize-recover=undefined" >/dev/null || exit
ninja -C _build/fuzz --quiet fuzz-targets || exit
export AXON_PLUGIN_PATH=$PWD/_build/fuzz/plugins/cpu:$PWD/_build/fuzz/plugins/template AXON_ISOLATE_PROBE=NO
export GST_PLUGIN_PATH_1_0= GST_PLUGIN_SYSTEM_PATH_1_0= GST_REGISTRY_1_0=$PWD/_build/fuzz/registry.bin GST_REGISTRY_FORK=no
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:leak_check_at_exit=0 UBSAN_OPTIONS=print_stacktrace=1 G_SLICE=always-malloc
export LSAN_OPTIONS=suppressions=$PWD/tests/support/lsan.supp:print_suppressions=0

# is_chance FOLDER FUZZER...: what was found last is a leak that is not there when its input runs a hundred times more: the
# sanitizer does not see what a thread holds that is about to end. It is removed.
is_chance() {
  local found
  found=$(ls -t "$1"/* 2>/dev/null | head -n 1)
  shift
  [[ $found = */leak-* ]] && "$@" -runs=100 "$found" >/dev/null 2>&1 && echo "not seen again: $found" && rm "$found"
}

# run TARGET [FOLDER...]
run() {
  local target=$1 status=0 end
  local kept=tests/fuzz/corpus/$target grown=_build/fuzz/corpus/$target found=_build/fuzz/found/$target log=_build/fuzz/$target.log
  shift
  mkdir -p "$kept" "$grown" "$found"
  local fuzz=(_build/fuzz/tests/fuzz/targets/fuzz-$target -artifact_prefix="$found/" -timeout=25 -rss_limit_mb=2048 -print_final_stats=1)
  if [ "$seconds" = --merge ]; then
    "${fuzz[@]}" -set_cover_merge=1 -max_len=4096 "$kept" "$grown" "$@"
    return
  fi
  # GLib keeps strings and types, which tests/support/lsan.supp knows by the whole stack.
  [ "$target" != caps ] || ASAN_OPTIONS=$ASAN_OPTIONS:fast_unwind_on_malloc=0:malloc_context_size=100
  : > "$log"
  end=$((SECONDS + seconds))
  until [ $SECONDS -ge $end ]; do
    "${fuzz[@]}" -max_total_time=$((end - SECONDS)) -max_len=4096 "$grown" "$kept" "$@" 2>&1 | tee -a "$log" && break
    ! is_chance "$found" "${fuzz[@]}" || continue
    status=1
    break
  done
  lines+=("$target: $(awk '/number_of_executed_units:/ { n += $2 } END { print n + 0 }' "$log") inputs,\
 edges $(grep -o 'cov: [0-9]*' "$log" | tail -1 | grep -o '[0-9]*$'),\
 features $(grep -o 'ft: [0-9]*' "$log" | tail -1 | grep -o '[0-9]*$'),\
 findings $(find "$found" -type f | wc -l)")
  return $status
}

set -o pipefail
failed=0 lines=()
for target in $targets; do
  run "$target" "$@" || failed=1
done
[ ${#lines[@]} = 0 ] || printf '%s\n' "${lines[@]}"
exit $failed
