#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Both commands of the README on a bare Debian: a root made by debootstrap from the mirror that apt is configured
# with, in a temporary folder of its own, with a clean checkout of HEAD and copies of the test data in it. Without
# --all, tests/run.sh --brief stands for the second command, and goes on from the first one's build. AXON_WERROR goes with it.
# With --packages, tests/packages.sh builds and checks packages there instead; a second root, bare again, gets nothing but
# them, by the first guide's own command, and does what debian/tests/quickstart, no-driver and that guide say.
# DEB_BUILD_OPTIONS and DEB_BUILD_PROFILES go with it (nocheck, both of them: without tests).
# usage: tests/distro.sh bookworm|trixie [--all|--packages]     exit status 77: this machine or its mirror cannot do it
#
# All of it happens in namespaces of its own (mounts, processes), which end with this script, however that ends.
# Nothing of the host is mounted in the root: it has a /proc, a /sys that cannot be written and a small /dev. The
# folder is removed at the end, never across a mount.
set -u
cd "$(dirname "$0")/.."
. .ci/packages.sh

usage() { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
cannot() { echo "tests/distro.sh: $*"; exit 77; }

# Inside and outside: whichever outlives the other.
remove() { rm -rf --one-file-system "$1"; }

# mirror SUITE FILE: the first of apt's mirrors of Debian that has SUITE; its InRelease goes to FILE.
mirror() {
  local site
  for site in $(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' "Created-By: Packages" |
    sed -nE 's#^(https?://[^ ]*) [a-z]+ main$#\1#p' | sort -u); do
    /usr/lib/apt/apt-helper download-file "$site/dists/$1/InRelease" "$2" >/dev/null 2>&1 &&
      grep -qx "Origin: Debian" "$2" && grep -qx "Codename: $1" "$2" && echo "$site" && return
  done
  return 1
}

# Outside. What ends it ends the rest: timeout dies with it, the namespaces with timeout.
start() {
  local suite=$1 brief=--brief limit=45m folder site pid=""
  [ "${2:-}" != --all ] || { brief="" limit=100m; }
  [ "${2:-}" != --packages ] || { brief=--packages limit=100m; }
  [ "$(id -u)" = 0 ] || cannot "another Debian's root can only be made by root"
  command -v apt-get >/dev/null || cannot "this is not a Debian: there is no apt to take the mirror from"
  install_packages $ROOT_PACKAGES || cannot "no debootstrap"
  unshare --mount --pid --fork true 2>/dev/null || cannot "this system has no namespaces for it"
  git -c safe.directory="$PWD" rev-parse -q --verify HEAD >/dev/null || cannot "this is not a checkout of git"
  folder=$(mktemp -d "${TMPDIR:-/var/tmp}/axon-$suite.XXXXXX") || exit 1
  trap '[ -z "$pid" ] || { kill $pid; wait $pid; } 2>/dev/null; remove "$folder"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  site=$(mirror "$suite" "$folder/InRelease") || cannot "no mirror that apt is configured with has $suite, or none answers"
  eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
  export http_proxy https_proxy
  setpriv --pdeathsig TERM timeout --kill-after=20 $limit \
    unshare --mount --pid --fork --kill-child "$BASH" "$0" inside "$suite" "$folder" "$site" $brief &
  pid=$!
  wait $pid
  local status=$?
  pid=""
  [ $status != 124 ] || echo "tests/distro.sh: not done after $limit"
  exit $status
}

# step SENTENCE COMMAND...: tells how long it took.
step() {
  local what=$1 start=$SECONDS status=0
  shift
  "$@" || status=$?
  echo "== $suite: $what: $((SECONDS - start)) s$([ $status = 0 ] || echo ", failed with $status")"
  return $status
}

make_root() {
  debootstrap --variant=minbase "$suite" "$root" "$site" > "$folder/log" 2>&1 || { tail -n 20 "$folder/log"; return 1; }
}

# How apt reaches the mirror and whom it trusts, as outside. No service is started.
configure_root() {
  local ca=/etc/ssl/certs/ca-certificates.crt option
  for option in http https Check-Valid-Until ForceIPv4; do
    apt-config dump Acquire::$option
  done > "$root/etc/apt/apt.conf.d/00outside"
  mkdir -p "$root/etc/ssl/certs"
  [ ! -e $ca ] || cp $ca "$root$ca"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
  chmod +x "$root/usr/sbin/policy-rc.d"
}

# debootstrap made a /dev. PoCL reads in /sys what the machine has, and ends the process where it cannot.
mount_own() {
  mount -t proc -o nosuid,nodev,noexec proc "$root/proc" &&
    mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$root/sys" &&
    mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs "$root/dev/shm" &&
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
}

copy_files() {
  local data=${AXON_TEST_DATA:-../shared} part
  mkdir "$root/srv/axon" "$root/srv/shared"
  git -c safe.directory="$PWD" archive HEAD | tar -x -C "$root/srv/axon" || return
  for part in families media models tools; do
    [ ! -d "$data/$part" ] || cp -rL --no-preserve=mode,ownership "$data/$part" "$root/srv/shared/" || return
  done
}

# inside COMMAND...: in the root's checkout, with an environment of its own.
inside() {
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} ${no_proxy:+no_proxy="$no_proxy"} \
    ${AXON_WERROR:+AXON_WERROR="$AXON_WERROR"} ${DEB_BUILD_OPTIONS:+DEB_BUILD_OPTIONS="$DEB_BUILD_OPTIONS"} \
    ${DEB_BUILD_PROFILES:+DEB_BUILD_PROFILES="$DEB_BUILD_PROFILES"} /bin/bash -c 'cd /srv/axon && exec "$@"' - "$@"
}

# In the root that built: the packages as an archive that apt reads.
build_packages() {
  inside tests/packages.sh /srv/out && inside bash -c 'mkdir /srv/debs && cp /srv/out/*.deb /srv/debs && cd /srv/debs &&
    dpkg-scanpackages . > Packages 2> /dev/null'
}

# The second root: what the packages do not have is what a guide's reader has, and the tests.
bare_root() {
  root=$folder/bare
  mount_own || cannot "a root of its own gets no /proc, /sys or /dev here"
  configure_root
  mkdir "$root/srv/axon" && cp -r "$folder/root/srv/debs" "$root/srv/" &&
    git -c safe.directory="$PWD" archive HEAD debian/tests pipelines/quickstart docs/guides | tar -x -C "$root/srv/axon" || return
  echo "deb [trusted=yes] file:/srv/debs ./" > "$root/etc/apt/sources.list.d/axon.list"
  echo 'APT::Get::Assume-Yes "true"; APT::Install-Recommends "false"; quiet "2";' > "$root/etc/apt/apt.conf.d/01unattended"
  inside apt-get update
}

# Word for word what the guide says to install: its first block.
install_as_told() {
  inside env DEBIAN_FRONTEND=noninteractive bash -ec "cd /tmp; $(sed -n '/^```sh skip/,/^```$/{/^```$/q;/^```/d;s/^apt /apt-get /p;t;p}' \
    docs/guides/first-pipeline.md); test -s pipelines/quickstart/ball.onnx" > "$folder/log" 2>&1 || { tail -n 20 "$folder/log"; return 1; }
}

from_packages() {
  inside env AUTOPKGTEST_TMP=/tmp bash "debian/tests/$1"
}

# no-driver is about devices that the guide does not install; the guide is run by a script in Python.
install_rest() {
  inside env DEBIAN_FRONTEND=noninteractive apt-get install "$@" > "$folder/log" 2>&1 || { tail -n 20 "$folder/log"; return 1; }
}

packages() {
  step "tests/packages.sh" build_packages && step "a bare root" bare_root && step "what the guide installs" install_as_told &&
    step "debian/tests/quickstart" from_packages quickstart && step "more devices" install_rest axon-plugin-gpu axon-plugin-onnxifi axon-plugin-remote &&
    step "debian/tests/no-driver" from_packages no-driver && step "Python for the guide's test" install_rest python3 &&
    step "docs/guides/first-pipeline.md" inside python3 docs/guides/run.py . /srv/none docs/guides/first-pipeline.md
}

# tests/run.sh --brief builds what the quickstart's build lacks.
go_on() {
  inside ln -s quickstart _build/brief && inside meson configure _build/brief -Dtests=true
}

# Process 1 of the namespaces.
run() {
  local suite=$1 folder=$2 site=$3 brief=${4:-} root=$2/root status=0
  trap '{ kill -KILL -1; wait; umount "$folder"/{root,bare}/{dev/pts,dev/shm,sys,proc}; remove "$folder"; } 2>/dev/null' EXIT
  trap 'exit 143' INT TERM HUP
  mkdir "$root"
  step "debootstrap" make_root || exit 1
  [ "$brief" != --packages ] || cp -a "$root" "$folder/bare" || exit 1
  mount_own || cannot "a root of its own gets no /proc, /sys or /dev here"
  configure_root
  copy_files || exit 1
  [ "$brief" != --packages ] || { packages; exit; }
  step "pipelines/quickstart.sh" inside pipelines/quickstart.sh || exit 1
  [ -z "$brief" ] || go_on || exit 1
  step "tests/run.sh${brief:+ $brief}" inside tests/run.sh $brief > >(tee "$folder/log") 2>&1 || status=$?
  grep -E '^[0-9]+ passed, [0-9]+ failed' "$folder/log" | tail -n 1
  exit $status
}

case "${1:-} ${2:-}" in
  "bookworm " | "trixie " | "bookworm --all" | "trixie --all" | "bookworm --packages" | "trixie --packages") start "$@" ;;
  "inside "*) [ $$ = 1 ] || usage; shift; run "$@" ;;
  *) usage ;;
esac
