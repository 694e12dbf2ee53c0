#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Device REMOTE before servers that people run: Triton (by PyTriton), MLServer and KServe's own, each with models of the
# shared data by ONNX Runtime, installed by pip into a folder of its own. Outside of the test command: it needs a network.
# What cannot be installed or does not start is skipped with the reason.
# usage: interop.sh BUILD [SERVER ...]     AXON_INTEROP=FOLDER keeps what was installed there (default BUILD/interop)
set -u
build=$(realpath "${1:?usage: interop.sh BUILD [SERVER ...]}"); shift
here=$(dirname "$(realpath "$0")") data=${AXON_TEST_DATA:-$here/../../shared}
home=${AXON_INTEROP:-$build/interop} port=18080 bad=0
python=${PYTHON:-/usr/bin/python3} # Triton brings a libpython that fits the standard library of 3.11.2 and not of 3.11.7
servers=("$@"); [ $# -gt 0 ] || servers=(mlserver pytriton kserve)
[ -d "$data/models" ] || { echo "no models in $data (set AXON_TEST_DATA)"; exit 77; }
export AXON_PLUGIN_PATH; AXON_PLUGIN_PATH=$(printf '%s:' "$build"/plugins/*/); AXON_PLUGIN_PATH=${AXON_PLUGIN_PATH%:}

package() {
  case $1 in pytriton) echo nvidia-pytriton ;; *) echo "$1" ;; esac
}

# A folder for each: their dependencies do not agree.
install() {
  [ -x "$home/$1/bin/python" ] || "$python" -m venv "$home/$1" || return 1
  [ -e "$home/$1/installed" ] || { "$home/$1/bin/pip" install -q "$(package "$1")" onnxruntime "numpy<2.3" setuptools &&
    touch "$home/$1/installed"; }
}

wait_until_ready() {
  for _ in $(seq 240); do
    curl -sf "http://127.0.0.1:$port/v2/models/m/ready" > /dev/null && return 0
    kill -0 "$1" 2> /dev/null || return 1
    sleep 0.5
  done
  return 1
}

try_model() {
  local server=$1 folder=$2 work pid
  work=$(mktemp -d); port=$((port + 10))
  "$home/$server/bin/python" "$here/remote/servers.py" "$server" "$folder/model.onnx" $port "$work" > "$work/log" 2>&1 & pid=$!
  if ! wait_until_ready $pid; then
    echo "skipped: $server does not start: $(grep -iE 'error|cannot|not found' "$work/log" | tail -n 1)"
  elif "$build/lib/tools/axon-run" --device REMOTE --config "URL=http://127.0.0.1:$port" --config REMOTE_MODEL=m \
      "$folder/model.onnx" --expect "$folder/test_data_set_0" > "$work/run" 2>&1; then
    echo "ok: $server $(basename "$folder")"
  else
    echo "FAIL: $server $(basename "$folder")"; cat "$work/run"; bad=$((bad + 1))
  fi
  kill $pid 2> /dev/null; wait $pid 2> /dev/null
  rm -rf "$work"
}

for server in "${servers[@]}"; do
  if ! why=$(install "$server" 2>&1); then
    echo "skipped: $server cannot be installed: $(echo "$why" | tail -n 1)"; continue
  fi
  for model in mnist-8 mobilenetv2-1.0-224-fp32 ultraface-rfb-320; do
    try_model "$server" "$data/models/$model"
  done
done
exit $((bad > 0))
