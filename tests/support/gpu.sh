#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a test of device GPU, on a processor where OpenCL has no other; skips, saying so, where it has
# none at all. usage: gpu.sh AXON-INSPECT tap|exit COMMAND...
export AXON_GPU_ALLOW_CPU=1
inspect=$1 protocol=$2
shift 2
if ! why=$("$inspect" --device GPU 2>&1 >/dev/null); then
  echo "1..0 # SKIP $why"
  [ "$protocol" = tap ] && exit 0
  exit 77
fi
# gcc's leak checker crashes at the end of the whole behaviour suite on the driver's thread-local memory; the
# other suites of the device, HETERO's behaviour among them, are checked for leaks.
case "$*" in
  *axon-behaviour\ --device\ GPU) export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 ;;
esac
exec "$@"
