#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs every command of pages, so that their pictures are what their commands make: BUILD DATA OUT [PAGE...]. Without
# BUILD ("") with what is installed, without pages those that have pictures.
set -eu
build=$1 data=$2 out=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
ready=$(realpath "$here/../pipelines/README.md") # needs a build
[ $# -gt 0 ] || set -- "$here"/{families,overlay}.md ${build:+"$ready"}
[ -d "$data/media" ] || { echo "no media in $data"; exit 77; }
mkdir -p "$out"
build=${build:+$(cd "$build" && pwd)} data=$(cd "$data" && pwd) out=$(cd "$out" && pwd)
export build data out AXON_DATA=$data

pictures() { # of a page
  sed -n 's/.*[(/]pictures\/\(.*\))/\1/p' "$1"
}
# Ready pipelines keep pictures as large as the video.
shrink() {
  gst-launch-1.0 -q filesrc location="$1" ! jpegdec ! videoconvert ! videoscale ! video/x-raw,width=480,pixel-aspect-ratio=1/1 ! \
    jpegenc ! filesink location="$1.small"
  mv "$1.small" "$1"
}

# Blocks of commands that name $out, each ended by a NUL.
awk '/^```sh/ { block = ""; inside = 1; next } /^```/ { if (inside && block ~ /\$out/) printf "%s%c", block, 0; inside = 0 }
  inside { block = block $0 "\n" }' "$@" | while IFS= read -r -d '' command; do
  command="cd $here/..; ${command//gst-launch-1.0/gst-launch-1.0 -q}"
  if [ -n "$build" ]; then
    meson devenv -C "$build" bash -euc "$command" < /dev/null
  else
    bash -euc "$command" < /dev/null
  fi
done
for page in "$@"; do
  for picture in $(pictures "$page"); do
    [ -s "$out/$picture" ] || { echo "$picture was not made"; exit 1; }
    [ "$(realpath "$page")" != "$ready" ] || shrink "$out/$picture"
  done
done
