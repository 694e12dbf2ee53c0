#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs the build into a folder and uses it as strangers do: headers, pkg-config files and
# typelibs only. usage: installed.sh BUILD SOURCE PREFIX
set -eu
build=$1 source=$2 prefix=$3
dest=$(mktemp -d)
trap 'rm -rf "$dest"' EXIT
DESTDIR=$dest meson install -C "$build" --no-rebuild --quiet
root=$dest$prefix
# The .pc files speak of the prefix; here it stands elsewhere.
find "$dest" -name '*.pc' -exec sed -i "s|^prefix=.*|prefix=$root|" {} +
pc=$(dirname "$(find "$dest" -name axon-1.0.pc)")
export PKG_CONFIG_PATH=$pc LD_LIBRARY_PATH=$(dirname "$pc") PATH=$root/bin:$PATH
plugins=$(pkg-config --variable=plugindir axon-1.0)
export AXON_PLUGIN_PATH=$plugins GST_PLUGIN_PATH_1_0=$(dirname "$pc")/gstreamer-1.0 GST_REGISTRY_1_0=$dest/registry.bin
export GI_TYPELIB_PATH=$(dirname "$pc")/girepository-1.0
cp -r "$source/docs/examples" "$dest/examples"
cd "$dest/examples"
model=$source/pipelines/quickstart/ball.onnx
fail=0
check() { # sentence, command...
  local what=$1; shift
  if "$@" >"$dest/log" 2>&1; then echo "ok: $what"; else echo "not ok: $what"; tail -20 "$dest/log"; fail=1; fi
}
check "the build tree shows the devices that a user has" env -u AXON_PLUGIN_PATH meson devenv -C "$build" bash -c '
  seen=$(axon-inspect) && echo "$seen" && grep -q TEMPLATE <<< "$seen" && ! grep -qE "FAULTY|MOCK|SAMPLE" <<< "$seen"'
check "the build tree serves a plugin's author: flags, folder of devices, behaviour suite" env -u AXON_PLUGIN_PATH -u PKG_CONFIG_PATH \
  meson devenv -C "$build" bash -c '
  cp -r "$0" "$1" && make -C "$1/application" CC="cc -Werror" && make -C "$1/plugin" CC="cc -Werror" &&
  export AXON_PLUGIN_PATH=$(pkg-config --variable=plugindir axon-1.0) && axon-inspect | grep -q TEMPLATE &&
  AXON_PLUGIN_PATH=$1/plugin $(pkg-config --variable=behaviour axon-1.0) --device SAMPLE' "$PWD" "$dest/uninstalled"
check "every public header compiles alone" bash -c '
  for h in $(cd '"$root"'/include/axon-1.0 && find axon -name "*.h"); do
    echo "#include <$h>" | cc -Wall -Werror -fsyntax-only -x c - $(pkg-config --cflags axon-1.0) || exit 1
  done'
if command -v c++ >/dev/null; then
  check "every public header compiles as C++" bash -c '
    cd '"$root"'/include && { cd axon-1.0 && find axon -name "*.h" && cd ../gstreamer-1.0 && find gst -name "*.h"; } | while read -r h; do
      echo "#include <$h>" | c++ -Wall -Werror -fsyntax-only -x c++ - $(pkg-config --cflags gstreamer-nn-1.0) || exit 1
    done'
else
  echo "skipped: every public header compiles as C++ (g++ is not installed)"
fi
check "a device plugin builds against the installed headers" make -C plugin CC='cc -Werror'
check "a device plugin builds and installs with Meson" bash -c \
  'meson setup "$0" plugin --prefix=/usr && DESTDIR=$0/root meson install -C "$0" && find "$0/root" -name libaxon-sample.so | grep axon-1.0/' "$dest/meson"
if command -v cmake >/dev/null; then
  check "a device plugin builds and installs with CMake" bash -c \
    'cmake -S plugin -B "$0" && cmake --build "$0" && DESTDIR=$0/root cmake --install "$0" && find "$0/root" -name libaxon-sample.so | grep axon-1.0/' "$dest/cmake"
else
  echo "skipped: a device plugin builds and installs with CMake (cmake is not installed)"
fi
export AXON_PLUGIN_PATH=$plugins:$PWD/plugin
check "the plugin can be inspected" axon-inspect --device SAMPLE
check "the plugin passes the installed behaviour suite" "$(pkg-config --variable=behaviour axon-1.0)" --device SAMPLE
check "a device with an operator and a pass of its own builds against them" make -C fusion CC='cc -Werror'
check "and passes the suite" env AXON_PLUGIN_PATH="$plugins:$PWD/fusion" "$(pkg-config --variable=behaviour axon-1.0)" --device FUSION
check "an extension builds against the installed headers" make -C extension CC='cc -Werror'
check "the extension's operator is listed" bash -c \
  'axon-inspect --extension ./extension/libaddconstant.so --operators | grep -q com.example'
check "an application builds against the installed headers" make -C application CC='cc -Werror'
if [ -e "$(dirname "$pc")"/libonnxifi-axon.so ]; then
  check "the twelve steps of ONNXIFI build against the installed header" make -C onnxifi CC='cc -Werror'
  check "and run on the installed vendor library" bash -c \
    "./onnxifi/twelvesteps $(dirname "$pc")/libonnxifi-axon.so $model image=1,3,96,128 scores=1,192,1 boxes=1,192,4 | tee /dev/stderr | grep -q '^boxes: 768 values from'"
fi
check "marks for the profiler are there" bash -c \
  '! grep -q "define HAVE_SYSPROF 1" '"$build"'/config.h || strings -n 5 '"$(dirname "$pc")"'/libaxon-1.0.so | grep -q SYSPROF_CONTROL_FD'
check "the application finds the ball" bash -c "./application/detect $model CPU | tee /dev/stderr | grep -qE '^[0-9]{2} detections in 30 frames'"
check "a model is compiled ahead of time" axon-compile "$model" -o "$dest/ball.axon"
check "and can be inspected" axon-inspect "$dest/ball.axon"
check "and axon-run knows its inputs" bash -c "axon-run -d TEMPLATE $dest/ball.axon 2>&1 | tee /dev/stderr | grep -q 'is not given'"
if [ ! -d "$GI_TYPELIB_PATH" ]; then
  echo "skipped: built without introspection"
elif ! /usr/bin/python3 -c 'import gi' 2>/dev/null; then
  echo "skipped: Python (python3-gi is not installed)"
else
  for device in CPU TEMPLATE HETERO:TEMPLATE,CPU; do
    check "Python drives read, query, compile, infer, async and export on $device" /usr/bin/python3 python/axon_example.py "$model" $device
  done
  if /usr/bin/python3 -c 'import gi; gi.require_version("Gst", "1.0"); from gi.repository import Gst' 2>/dev/null; then
    check "Python prints the boxes of a pipeline" bash -c "/usr/bin/python3 python/boxes.py videotestsrc pattern=ball \
      num-buffers=10 ! nninfer model=$model ! nndecode name=results threshold=0.5 ! fakesink | tee /dev/stderr | grep -q '^1 '"
  else
    echo "skipped: boxes from Python (gir1.2-gstreamer-1.0 is not installed)"
  fi
fi
if command -v mypy >/dev/null && [ -d "$root/share/axon-1.0/python" ]; then
  check "the examples in Python have the types that the stubs say" env MYPYPATH="$root/share/axon-1.0/python" mypy \
    "$root"/share/axon-1.0/python/gi/repository/*.pyi python/axon_example.py python/boxes.py
  sed 's/"CPV"/17/' python/axon_example.py > "$dest/wrong.py"
  check "and a number for the name of a device is refused" bash -c \
    "! MYPYPATH=$root/share/axon-1.0/python mypy $dest/wrong.py > $dest/said && cat $dest/said && grep -q arg-type $dest/said"
else
  echo "skipped: types in Python (mypy is not installed)"
fi
if command -v gjs >/dev/null && [ -d "$GI_TYPELIB_PATH" ]; then
  check "JavaScript prints the boxes of a pipeline" bash -c "gjs javascript/boxes.js videotestsrc pattern=ball num-buffers=10 ! \
    nninfer model=$model ! nndecode | tee /dev/stderr | grep -q '^1 '"
  check "JavaScript says why a pipeline fails" bash -c "! gjs javascript/boxes.js videotestsrc ! nninfer model=nothing.onnx 2>&1 |
    tee /dev/stderr | grep -q '^1 ' && gjs javascript/boxes.js videotestsrc ! nninfer model=nothing.onnx 2>&1 | grep -q nothing.onnx"
else
  echo "skipped: boxes from JavaScript (gjs is not installed)"
fi
exit $fail
