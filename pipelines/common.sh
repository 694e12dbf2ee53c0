# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the pipelines: where models and media are (AXON_DATA), where results go (OUT), and how
# many frames of a video are taken (FRAMES; all of them otherwise).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
data=${AXON_DATA:-${AXON_TEST_DATA:-$here/../../shared}}
models=$data/models media=$data/media
out=${OUT:-out}
[ -d "$models" ] || { echo "no models in $data: set AXON_DATA" >&2; exit 77; }
mkdir -p "$out"

# Elements that play what is at FILE or URI, a video or a picture, as raw video.
play() {
  local from="filesrc location=$1 ! decodebin"
  case $1 in *://*) from="uridecodebin uri=$1" ;; esac
  echo "$from ! $(first_frames) videoconvert"
}
first_frames() {
  echo "${FRAMES:+identity eos-after=$FRAMES !}"
}
# Elements that keep what the pipeline draws: a video, of pictures each of which is a JPEG.
keep() {
  echo "videoconvert ! jpegenc ! matroskamux ! filesink location=$out/$1.mkv"
}
launch() {
  gst-launch-1.0 -q -e "$@"
}
