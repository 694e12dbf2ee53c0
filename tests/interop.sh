#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Device REMOTE before servers that people run: Triton (by PyTriton), MLServer and KServe's own, each with models of the
# shared data by ONNX Runtime, installed by pip into a folder of its own, with every transfer that the server knows.
# Outside of the test command: it needs a network. What cannot be installed or does not start is skipped with the reason.
# usage: interop.sh BUILD [--record] [SERVER ...]     AXON_INTEROP=FOLDER keeps what was installed (default BUILD/interop)
#   --record writes what server and device say about the smallest model to tests/remote/recorded, for test remote-recorded
set -u
build=$(realpath "${1:?usage: interop.sh BUILD [--record] [SERVER ...]}"); shift
record=false; [ "${1:-}" = --record ] && { record=true; shift; }
here=$(dirname "$(realpath "$0")") data=${AXON_TEST_DATA:-$here/../../shared}
home=${AXON_INTEROP:-$build/interop} port=18080 bad=0
python=${PYTHON:-/usr/bin/python3} # Triton brings a libpython of its own, which the standard library of 3.11.2 fits, not 3.11.7's
servers=("$@"); [ $# -gt 0 ] || servers=(mlserver pytriton kserve ovms)
[ -d "$data/models" ] || { echo "no models in $data (set AXON_TEST_DATA)"; exit 77; }
export AXON_PLUGIN_PATH; AXON_PLUGIN_PATH=$(printf '%s:' "$build"/plugins/*/); AXON_PLUGIN_PATH=${AXON_PLUGIN_PATH%:}

package() {
  case $1 in pytriton) echo nvidia-pytriton ;; *) echo "$1" ;; esac
}

# How tensors travel, and what makes it so.
transfers() {
  case $1 in
    pytriton) echo "SHARED_MEMORY BINARY_DATA:SHARED_MEMORY=NO JSON:SHARED_MEMORY=NO,BINARY_DATA=NO" ;;
    kserve) echo "JSON BINARY_DATA:BINARY_DATA=YES" ;; # it takes bytes and does not list them
    *) echo JSON ;;
  esac
}

# A folder for each: their dependencies do not agree.
install() {
  [ "$1" != ovms ] || { command -v ovms > /dev/null || { echo "there is no program ovms"; return 1; }; return 0; }
  [ -x "$home/$1/bin/python" ] || "$python" -m venv "$home/$1" || return 1
  [ -e "$home/$1/installed" ] || { "$home/$1/bin/pip" install -q "$(package "$1")" onnx onnxruntime "numpy<2.3" setuptools &&
    touch "$home/$1/installed"; }
}

start() {
  if [ "$1" = ovms ]; then
    mkdir -p "$3/m/1" && cp "$2/model.onnx" "$3/m/1" && exec ovms --model_name m --model_path "$3/m" --rest_port $port --port $((port + 1))
  else
    exec "$home/$1/bin/python" "$here/remote/servers.py" "$1" "$2/model.onnx" $port "$3"
  fi
}

wait_until_ready() {
  for _ in $(seq 240); do
    curl -sf "http://127.0.0.1:$port/v2/models/m/ready" > /dev/null && return 0
    kill -0 "$1" 2> /dev/null || return 1
    sleep 0.5
  done
  return 1
}

# PORT MODEL_FOLDER TRANSFER[:KEY=VALUE,...]
run_model() {
  local args=() pair
  IFS=, read -ra pairs <<< "${3#*:}"
  [[ $3 = *:* ]] && for pair in "${pairs[@]}"; do args+=(--config "$pair"); done
  "$build/lib/tools/axon-run" --device REMOTE --config "URL=http://127.0.0.1:$1" --config REMOTE_MODEL=m "${args[@]}" \
    "$2/model.onnx" --expect "$2/test_data_set_0"
}

try_transfer() {
  local server=$1 folder=$2 way=$3 work=$4 name
  name="$server $(basename "$folder") ${way%%:*}"
  if run_model $port "$folder" "$way" > "$work/run" 2>&1; then
    echo "ok: $name"
  else
    echo "FAIL: $name"; cat "$work/run"; bad=$((bad + 1))
  fi
}

record_transfer() {
  local server=$1 folder=$2 way=$3 file recorder
  file=$here/remote/recorded/$server-$(tr '[:upper:]_' '[:lower:]-' <<< "${way%%:*}").json
  mkdir -p "$(dirname "$file")"
  coproc "$home/$server/bin/python" "$here/remote/record.py" $((port + 5)) $port "$(package "$server")" "$folder" "${way%%:*}" "$file"
  recorder=$COPROC_PID
  read -r _ <&"${COPROC[0]}"
  run_model $((port + 5)) "$folder" "$way" || bad=$((bad + 1))
  exec {COPROC[1]}>&-
  wait "$recorder" && echo "recorded: $file"
}

try_model() {
  local server=$1 folder=$2 work pid way
  work=$(mktemp -d); port=$((port + 10))
  start "$server" "$folder" "$work" > "$work/log" 2>&1 & pid=$!
  if ! wait_until_ready $pid; then
    echo "skipped: $server does not start: $(grep -iE 'error|cannot|not found' "$work/log" | tail -n 1)"
  else
    for way in $(transfers "$server"); do
      try_transfer "$server" "$folder" "$way" "$work"
      # what memory is named differs each time
      $record && [[ $server != ovms && $folder = */mnist-8 && $way != SHARED_MEMORY* ]] && record_transfer "$server" "$folder" "$way"
    done
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
