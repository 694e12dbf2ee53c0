# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the pipelines that take models and media from AXON_DATA.
. "$(dirname "${BASH_SOURCE[0]}")/keep.sh"
data=${AXON_DATA:-${AXON_TEST_DATA:-$here/../../shared}}
models=$data/models media=$data/media
[ -d "$models" ] || { echo "no models in $data: set AXON_DATA" >&2; exit 77; }

# Elements that play what is at FILE or URI, a video or a picture, as raw video.
play() {
  local from="filesrc location=$1 ! decodebin"
  case $1 in *://*) from="uridecodebin uri=$1" ;; esac
  echo "$from ! $(first_frames) videoconvert"
}
