# SPDX-License-Identifier: LGPL-2.1-or-later
# What the scripts of this folder share: the data, playing a pipeline, checking its records.
set -u
data=${AXON_TEST_DATA:-$1}
[ -d "$data/media" ] || { echo "no media in $data (set AXON_TEST_DATA)"; exit 77; }
models=$data/models tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
n=0 bad=0

# check NAME EXPRESSION: a Python expression over records, the parsed lines
check() {
  n=$((n + 1))
  python3 - "$tmp/out" "$1" "$2" <<'PY' || bad=$((bad + 1))
import json, sys
records = [json.loads(line) for line in open(sys.argv[1])]
def labels(r, least=0):
    return sorted(o["detection"]["label"] for o in r["objects"]
                  if "detection" in o and o["detection"]["confidence"] >= least)
ok = eval(sys.argv[3])
print("pass" if ok else "FAIL", sys.argv[2], "" if ok else json.dumps(records)[:400])
sys.exit(not ok)
PY
}
play() { # a pipeline that fails or hangs counts, whatever it wrote
  : > "$tmp/out"
  timeout "${patience:-60}" gst-launch-1.0 -q "$@" > "$tmp/log" 2>&1 || {
    n=$((n + 1)); bad=$((bad + 1)); echo "FAIL the pipeline ended with $?: $*"; cat "$tmp/log"; }
}
publish="nnpublish location=$tmp/out"
