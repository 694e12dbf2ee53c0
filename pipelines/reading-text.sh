#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Finds lines of text and reads them: pipelines/reading-text.sh [PICTURE]
# Leaves reading-text.jsonl and reading-text.mkv in out/. Lines keep their proportions, as PaddleOCR reads them: each is
# as wide as it is long.
set -eu
. "$(dirname "$0")/common.sh"
launch $(play "${1:-$media/sign-en.jpg}") ! \
  nninfer model="$models/ppocrv3-det-en/model.onnx" ! nndecode ! \
  nninfer model="$models/ppocr-rec-en-number-v2/model.onnx" inference-region=roi-list region-margin=0.12 ! nndecode ! \
  nnpublish location="$out/reading-text.jsonl" ! nnoverlay ! $(keep reading-text)
still reading-text
