# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the two commands of the README: which Debian packages a build and its tests need,
# install_packages(), which installs those that are missing (as root or by sudo, without a question),
# and build(). AXON_WERROR=1, which CI sets, makes warnings errors.
BUILD_PACKAGES="gcc libc6-dev meson ninja-build pkg-config gettext libglib2.0-dev libglib2.0-bin
  libprotobuf-c-dev protobuf-c-compiler libxxhash-dev libdnnl-dev ocl-icd-libopencl1 opencl-c-headers
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libjson-glib-dev libcairo2-dev libpango1.0-dev
  libsoup-3.0-dev glib-networking libgdk-pixbuf-2.0-dev libgirepository1.0-dev gobject-introspection fonts-dejavu-core
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good"
TEST_PACKAGES="make pocl-opencl-icd gstreamer1.0-libav gstreamer1.0-plugins-bad libonnx-testdata libonnx-dev python3 python3-numpy
  python3-onnx python3-gi python3-jsonschema libmosquitto-dev librdkafka-dev libsoup-3.0-dev mosquitto openssl
  libgstrtspserver-1.0-dev clang-format cppcheck abigail-tools gir1.2-gstreamer-1.0
  fish zsh man-db gjs mypy gi-docgen python3-markdown"
CLANG_PACKAGES="clang libclang-rt-dev"
VALGRIND_PACKAGES="valgrind"
PACKAGE_PACKAGES="debhelper dpkg-dev fakeroot lintian"
ROOT_PACKAGES="debootstrap"
CROSS_PACKAGES="gcc-aarch64-linux-gnu qemu-user-static"

# What only one Debian has, or has by this name. Another system takes the table of the nearest newer Debian.
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
case $codename in
  bookworm | trixie) table=$codename ;;
  buster | bullseye) table=bookworm ;;
  *) table=trixie ;;
esac
[ "$table" = "$codename" ] || echo "$(. /etc/os-release && echo "${PRETTY_NAME:-this system}") is unknown here:" \
  "packages are looked for by the names that they have in Debian's $table (.ci/packages.sh)" >&2
case $table in
  bookworm)
    BUILD_PACKAGES="$BUILD_PACKAGES libsysprof-4-dev"
    TEST_PACKAGES="$TEST_PACKAGES libonnxifi"
    ;;
  trixie) BUILD_PACKAGES="$BUILD_PACKAGES libsysprof-capture-4-dev libgstreamer-plugins-bad1.0-dev" ;;
esac

install_packages() {
  local missing="" p sudo=""
  for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
  done
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ]; then
    sudo="sudo -n"
    $sudo true 2>/dev/null || { echo "missing, and neither root nor sudo without a password to install them:$missing" >&2; return 1; }
  fi
  echo "installing:$missing"
  $sudo apt-get update -qq &&
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# build FOLDER [OPTION...]: sets FOLDER up with these options of Meson unless it is, and builds.
build() {
  local folder=$1
  shift
  [ -f "$folder/build.ninja" ] || meson setup "$folder" "$@" >/dev/null || return
  [ -z "${AXON_WERROR:-}" ] || meson configure "$folder" -Dwerror=true || return
  ninja -C "$folder" --quiet
}
