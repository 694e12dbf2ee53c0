# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the two commands of the README. Installs Debian packages by name, only what is missing.
BUILD_PACKAGES="gcc libc6-dev meson ninja-build pkg-config gettext libglib2.0-dev libglib2.0-bin
  libprotobuf-c-dev protobuf-c-compiler libxxhash-dev libdnnl-dev ocl-icd-libopencl1 opencl-c-headers libgstreamer1.0-dev
  libgstreamer-plugins-base1.0-dev libjson-glib-dev libcairo2-dev libpango1.0-dev libgdk-pixbuf-2.0-dev
  libgirepository1.0-dev gobject-introspection libsysprof-4-dev fonts-dejavu-core
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good"
TEST_PACKAGES="pocl-opencl-icd gstreamer1.0-libav libonnx-testdata libonnx-dev libonnxifi python3 python3-numpy python3-onnx python3-gi clang-format cppcheck
  gir1.2-gstreamer-1.0"

install_packages() {
  local missing="" p sudo=""
  for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
  done
  [ -n "$missing" ] || return 0
  [ "$(id -u)" = 0 ] || sudo="sudo -n"
  echo "installing:$missing"
  $sudo apt-get update -qq &&
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
