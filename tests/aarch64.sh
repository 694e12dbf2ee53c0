#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds for aarch64 with Debian's cross compiler and runs the tests and the quickstart under qemu, as a processor of
# each level of instructions: Cortex-A72 (NEON) and Cortex-A76 (dot products, half precision). Numbers are proved, not speed.
# usage: tests/aarch64.sh [--brief | --models] [--keep FOLDER]     exit status 77: this machine or its mirror cannot do it
#
# Debian's packages for arm64 are unpacked into a temporary folder, with apt's state in it, too: the host's packages and
# architectures stay as they are. The kernel is told of qemu in namespaces of this script's own, which end with it.
# --brief: kernels, operators and the quickstart. --models: real models instead (those of $AXON_TEST_DATA), at each level,
# and what runs their steps; the largest differences are printed. --keep: the folder is kept, and used again.
set -u
cd "$(dirname "$0")/.."
. .ci/packages.sh

usage() { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
cannot() { echo "tests/aarch64.sh: $*"; exit 77; }

# What the build links and runs with; headers that are the same everywhere come along.
TARGET_PACKAGES="libc6-dev libgcc-12-dev $(printf '%s\n' $BUILD_PACKAGES |
  grep -vxE 'gcc|libc6-dev|meson|ninja-build|pkg-config|gettext|libglib2.0-bin|protobuf-c-compiler|libgirepository1.0-dev|gobject-introspection') libonnx-dev"
[ "$table" = bookworm ] || TARGET_PACKAGES=${TARGET_PACKAGES/libgcc-12-dev/libgcc-14-dev}

# What --brief runs: kernels of every kind, against the reference; and what a level computes otherwise that adds products of
# bytes and halves only.
LEVEL_TESTS="unit-floatkernels unit-int8kernels ops-devices ops-forms ops-halves ops-kernels ops-products ops-whole"
BRIEF_TESTS="$LEVEL_TESTS unit-vectormath unit-winogradkernels ops-chains ops-eltwise ops-lines ops-recurrent ops-resize ops-tails
  ops-winograd symbols"

# Packages are chosen by apt as for an empty system of that architecture.
download() {
  local apt=$folder/apt
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/log"
  : > "$apt/status"
  cat > "$apt/apt.conf" << CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt";
Dir::Cache::archives "$apt/archives";
Dir::Log "$apt/log";
Debug::NoLocking "true";
CONF
  APT_CONFIG=$apt/apt.conf apt-get update -qq &&
    APT_CONFIG=$apt/apt.conf apt-get install -y -qq --download-only $TARGET_PACKAGES > /dev/null
}

# No package's scripts run; /lib is a link, as in every Debian since 12. Links from / on would lead to this machine's files:
# where libm.so does, the static library is found instead, and all that it has is exported.
unpack() {
  local name deb link target
  mkdir -p "$root/usr/lib" "$root/usr/bin" "$root/usr/sbin"
  for name in lib bin sbin; do ln -sfn "usr/$name" "$root/$name"; done
  for deb in "$folder"/apt/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$root" || return
  done
  find "$root/usr" -type l -lname '/*' -printf '%p\n%l\n' | while read -r link && read -r target; do
    ln -sfnr "$root$target" "$link"
  done
}

# A package's script would have listed them.
list_picture_loaders() {
  local at=$root/usr/lib/aarch64-linux-gnu/gdk-pixbuf-2.0
  "$qemu" -L "$root" "$at/gdk-pixbuf-query-loaders" "$at"/2.10.0/loaders/*.so > "$folder/loaders.cache"
}

write_cross_file() {
  cat > "$folder/aarch64.ini" << INI
[constants]
root = '$root'
[binaries]
c = [$(command -v ccache > /dev/null && echo "'ccache', ")'aarch64-linux-gnu-gcc', '--sysroot=' + root]
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['$qemu', '-L', root]
[properties]
sys_root = root
pkg_config_libdir = root + '/usr/lib/aarch64-linux-gnu/pkgconfig:' + root + '/usr/share/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
INI
}

# step SENTENCE COMMAND...: tells how long it took.
step() {
  local what=$1 start=$SECONDS status=0
  shift
  "$@" || status=$?
  echo "== aarch64: $what: $((SECONDS - start)) s$([ $status = 0 ] || echo ", failed with $status")"
  return $status
}

cross_build() { # FOLDER OPTION...
  local at=$1
  shift
  [ -f "$at/build.ninja" ] || env -u CC meson setup "$at" --cross-file "$folder/aarch64.ini" --buildtype=release \
    -Dintrospection=disabled "$@" > "$folder/setup.log" || { tail -n 20 "$folder/setup.log"; return 1; }
  ninja -C "$at" --quiet
}

# emulated COMMAND...: programs of the other architecture start like any other, and its tools are found first.
emulated() {
  PATH=$folder/bin:$PATH QEMU_LD_PREFIX=$root "${namespaces[@]}" "$BASH" -c '
    mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && printf %s "$1" > /proc/sys/fs/binfmt_misc/register || exit 76
    shift; exec "$@"' - \
    ":aarch64:M::\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff:$qemu:OCF" "$@"
}

# The level that is expected is one that is there.
run_level() { # PROCESSOR LEVEL ARGUMENT...
  local processor=$1 level=$2
  shift 2
  export QEMU_CPU=$processor
  AXON_ISOLATE_PROBE=NO AXON_PLUGIN_PATH=$folder/build/plugins/cpu emulated "$folder/build/lib/tools/axon-inspect" --device CPU | grep -q "CPU_ISA_AVAILABLE.*$level" ||
    { echo "a $processor has no level $level"; return 1; }
  step "tests as a $processor ($level)" emulated meson test -C "$folder/build" --print-errorlogs \
    --timeout-multiplier 20 "$@"
}

# A run that takes milliseconds elsewhere takes seconds here.
run_models() {
  local failed=0
  export AXON_TEST_MODEL_SECONDS=600
  run_level cortex-a72 NEON --verbose implementations models-CPU decoded-CPU || failed=1
  AXON_CPU_ISA=NEON_DOTPROD run_level cortex-a76 NEON_DOTPROD --verbose models-CPU decoded-CPU || failed=1
  run_level cortex-a76 NEON_FP16 --verbose models-CPU decoded-CPU decoded-CPU-f16 || failed=1
  return $failed
}

# The README's command, in a checkout of its own whose build is that of the tests.
quickstart() {
  mkdir -p "$folder/checkout/_build"
  git -c safe.directory="$PWD" archive HEAD | tar -x -C "$folder/checkout" || return
  ln -sfn "$folder/build" "$folder/checkout/_build/quickstart"
  emulated "$folder/checkout/pipelines/quickstart.sh"
}

brief="" models="" keep=""
while [ $# -gt 0 ]; do
  case $1 in
    --brief) brief=1 ;;
    --models) models=1 ;;
    --keep) [ $# -gt 1 ] || usage; keep=$2; shift ;;
    *) usage ;;
  esac
  shift
done

[ "$(uname -m)" != aarch64 ] || cannot "this is such a machine: tests/run.sh runs here"
command -v apt-get > /dev/null || cannot "this is not a Debian: there is no apt to take the mirror from"
install_packages $BUILD_PACKAGES $CROSS_PACKAGES || cannot "no cross compiler or no qemu"
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || cannot "no qemu"
namespaces=(unshare --mount)
[ "$(id -u)" = 0 ] || namespaces=(unshare --user --map-root-user --mount)
if [ -n "$keep" ]; then
  mkdir -p "$keep" && folder=$(cd "$keep" && pwd) || exit 1
else
  folder=$(mktemp -d "${TMPDIR:-/var/tmp}/axon-aarch64.XXXXXX") || exit 1
  trap 'rm -rf --one-file-system "$folder"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
fi
root=$folder/root
if [ ! -e "$folder/unpacked" ]; then
  step "packages" download || cannot "apt's mirror has no arm64, or does not answer"
  step "unpacking" unpack || exit 1
  touch "$folder/unpacked"
fi
export GDK_PIXBUF_MODULE_FILE=$folder/loaders.cache
write_cross_file
list_picture_loaders || exit 1
mkdir -p "$folder/bin"
ln -sfn "$root"/usr/bin/gst-*-1.0 "$folder/bin"
options=-Dtests=true
[ -z "$brief" ] || options=-Dtests=false # meson builds those that it runs
step "build" cross_build "$folder/build" $options || exit 1
emulated true || cannot "this kernel lets nobody register another architecture's programs (binfmt_misc)"
[ -z "$models" ] || { run_models; exit; }
status=0
step "pipelines/quickstart.sh" quickstart || status=1
if [ -n "$brief" ]; then
  tests=$BRIEF_TESTS level_tests=$LEVEL_TESTS
  env -u CC meson configure "$folder/build" -Dtests=true || exit 1
else
  tests="--suite unit --suite ops --suite elements --suite pipelines --suite brief"
  level_tests=$tests
fi
run_level cortex-a72 NEON $tests || status=1
run_level cortex-a76 NEON_FP16 $level_tests || status=1
exit $status
