#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs every command of families.md, so that its pictures are what its commands make: BUILD DATA OUT.
# Without BUILD ("") with what is installed.
set -eu
page=$(dirname "$0")/families.md build=$1 data=$2 out=$3
[ -d "$data/media" ] || { echo "no media in $data"; exit 77; }
mkdir -p "$out"
export data out
# Blocks of commands that name $out, each ended by a NUL.
awk '/^```sh/ { block = ""; inside = 1; next } /^```/ { if (inside && block ~ /\$out/) printf "%s%c", block, 0; inside = 0 }
  inside { block = block $0 "\n" }' "$page" | while IFS= read -r -d '' command; do
  if [ -n "$build" ]; then
    meson devenv -C "$build" bash -euc "${command/gst-launch-1.0/gst-launch-1.0 -q}" < /dev/null
  else
    bash -euc "$command" < /dev/null
  fi
done
for picture in $(sed -n 's/.*(pictures\/\(.*\))/\1/p' "$page"); do
  [ -s "$out/$picture" ] || { echo "$picture was not made"; exit 1; }
done
