# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the pipelines: where results go (OUT), how many frames of a video are taken (FRAMES; all of them otherwise), and
# what keeps the pictures.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${OUT:-out}
mkdir -p "$out"

# Behind a queue, which lets nothing pass any more once identity has ended the stream: decodebin's own may lose that, which
# identity says of one frame only, and play the whole video.
first_frames() {
  echo "${FRAMES:+queue ! identity eos-after=$FRAMES !}"
}
# Elements that keep what the pipeline draws: a video, of pictures each of which is a JPEG.
keep() {
  echo "videoconvert ! jpegenc ! matroskamux ! filesink location=$out/$1.mkv"
}
launch() {
  gst-launch-1.0 -q -e "$@"
}
# The last picture of what keep() kept, as NAME.jpg.
still() {
  rm -f "$out/$1".last.*.jpg
  launch filesrc location="$out/$1.mkv" ! matroskademux ! multifilesink max-files=1 location="$out/$1.last.%05d.jpg"
  mv "$out/$1".last.*.jpg "$out/$1.jpg"
}
