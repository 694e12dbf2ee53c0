# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced: where the ONNX backend cases of Debian's libonnx-testdata are, which ONNX they are of ($version), how
# many there are ($cases), and which of them a list names. Ends the test as skipped where there are none.
data=/usr/share/libonnx-testdata/data
[ -d "$data" ] || { echo "$data is not installed (libonnx-testdata)"; exit 77; }
version=$(dpkg-query -W -f='${Version}' libonnx-testdata | grep -oE '^[0-9]+\.[0-9]+')
case $version in
  1.12) cases=1072 ;; # Debian 12
  1.17) cases=1428 ;; # Debian 13
  *) echo "nobody has counted the cases of ONNX $version yet, nor which of them cannot pass: tests/onnx/testdata.sh"; exit 1 ;;
esac

# of_version ARGUMENT...: of what stands as VERSION=VALUE, the value for this version.
of_version() {
  printf '%s\n' "$@" | sed -n "s/^$version=//p"
}

# listed FILE: the lines of FILE for this version. "= VERSION..." says of which versions those behind it are.
listed() {
  awk -v version="$version" '/^=/ { on = index($0 " ", " " version " ") } /^[^=#]/ && on' "$1"
}
