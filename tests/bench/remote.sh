#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The tables of docs/remote.md: what sending a tensor costs, beside tritonclient, which pip installs into a folder of its
# own, and frames per second of one model here, on a server, and on both with another server. Wants a network once.
# usage: remote.sh BUILD     AXON_INTEROP=FOLDER keeps what was installed there (default BUILD/interop)
set -eu
build=$(realpath "${1:?usage: remote.sh BUILD}")
here=$(dirname "$(realpath "$0")") python=${AXON_INTEROP:-$build/interop}/bench/bin/python
export AXON_PLUGIN_PATH; AXON_PLUGIN_PATH=$(printf '%s:' "$build"/plugins/*/); AXON_PLUGIN_PATH=${AXON_PLUGIN_PATH%:}
[ -x "$python" ] || "${PYTHON:-/usr/bin/python3}" -m venv "${python%/bin/python}"
"$python" -c 'import onnx, tritonclient.http' 2> /dev/null || "${python%python}pip" install -q 'tritonclient[http]' onnx numpy
exec "$python" "$here/remote.py" "$build" "${AXON_TEST_DATA:-$here/../../../shared}/models/mobilenetv2-1.0-224-fp32/model.onnx"
