#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The main job on a bare Debian 12 or 13: installs what is missing, builds, finds and follows shapes of five kinds in a
# generated video (shapes.sh), and leaves JSON lines, the video and its last picture in out/.
set -eu
cd "$(dirname "$0")/.."
. .ci/packages.sh
install_packages $BUILD_PACKAGES
build=_build/quickstart
build $build --buildtype=release -Dtests=false -Dintrospection=disabled
export OUT=$PWD/out PATH=$PWD/$build/pipelines:$PATH
export AXON_PLUGIN_PATH=$PWD/$build/plugins/cpu:$PWD/$build/plugins/template
export AXON_PROBE=$PWD/$build/lib/tools/axon-probe
export GST_PLUGIN_PATH_1_0=$PWD/$build/gst GST_REGISTRY_1_0=$PWD/$build/registry.bin
rm -rf "$OUT"
pipelines/shapes.sh
