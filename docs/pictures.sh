#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs every command of pages, so that their pictures are what their commands make: BUILD DATA OUT [PAGE...]. Without
# BUILD ("") with what is installed, without pages those that have pictures.
set -eu
build=$1 data=$2 out=$3
shift 3
[ $# -gt 0 ] || set -- "$(dirname "$0")"/{families,overlay}.md
[ -d "$data/media" ] || { echo "no media in $data"; exit 77; }
mkdir -p "$out"
export data out
# Blocks of commands that name $out, each ended by a NUL.
awk '/^```sh/ { block = ""; inside = 1; next } /^```/ { if (inside && block ~ /\$out/) printf "%s%c", block, 0; inside = 0 }
  inside { block = block $0 "\n" }' "$@" | while IFS= read -r -d '' command; do
  if [ -n "$build" ]; then
    meson devenv -C "$build" bash -euc "${command/gst-launch-1.0/gst-launch-1.0 -q}" < /dev/null
  else
    bash -euc "$command" < /dev/null
  fi
done
for picture in $(sed -n 's/.*(pictures\/\(.*\))/\1/p' "$@"); do
  [ -s "$out/$picture" ] || { echo "$picture was not made"; exit 1; }
done
