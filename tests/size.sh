#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sizes in kilobytes of what a build installs, stripped, as rows of a table in Markdown.
# usage: [STRIP=aarch64-linux-gnu-strip] tests/size.sh BUILD
set -eu
[ $# = 1 ] && [ -f "$1/build.ninja" ] || { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
DESTDIR=$folder/image meson install -C "$1" --no-rebuild --quiet
sum=0
echo "| file | KB |"
echo "|---|---|"
while read -r file; do
  "${STRIP:-strip}" -o "$folder/stripped" "$file"
  size=$(stat -c %s "$folder/stripped")
  sum=$((sum + size))
  echo "| \`$(basename "$file")\` | $(((size + 512) / 1024)) |"
done < <(find "$folder/image" \( -name 'lib*.so*' -o -name '*.soup3' \) -type f | sort)
echo "| together | $(((sum + 512) / 1024)) |"
