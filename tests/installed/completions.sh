#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Completions and man pages say what the tools say. usage: completions.sh SOURCE TOOLS MAN
set -u
source=$1/lib/tools/completions man=$3
export PATH=$2:$PATH
fail=0
check() { # sentence, expected among the lines of standard input
  if grep -qx -- "$2"; then echo "ok: $1"; else echo "not ok: $1"; fail=1; fi
}
complete_bash() { # the words of a line, the last to be completed
  bash -c '. "$0"; compopt() { :; }; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _axon "$1"; printf "%s\n" "${COMPREPLY[@]}"' "$source/axon.bash" "$@"
}
complete_bash axon-run --ex | check "bash completes options" "--expect="
complete_bash axon-bench -d TEM | check "bash completes devices" TEMPLATE
complete_bash axon-bench --device = TEM | check "bash completes devices behind an equals sign" TEMPLATE
complete_bash axon-bench -d CPU -c NUM_ | check "bash completes the properties of the device" "NUM_STREAMS="
if command -v fish > /dev/null; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  cp "$source/axon.fish" "$folder/axon-run.fish"
  fish_says() { HOME=$folder fish -c "set -p fish_complete_path $folder; complete -C '$1'" | cut -f 1; }
  fish_says "axon-run --ex" | sed "s/=$//" | check "fish completes options" "--expect"
  fish_says "axon-run --device=TEM" | check "fish completes devices" "--device=TEMPLATE"
else
  echo "skipped: fish is not installed"
fi
if command -v zsh > /dev/null; then
  zsh -n "$source/_axon" && echo ok | check "zsh reads its file" ok
else
  echo "skipped: zsh is not installed"
fi
for tool in axon-bench axon-compile axon-inspect axon-run; do
  if command -v man > /dev/null; then
    LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings=w -l "$man/$tool.1" 2>&1 > /dev/null | wc -l | check "the man page of $tool is free of warnings" 0
  fi
  for option in $("$tool" --help | sed -nE 's/^  (-., )?(--[a-z-]+).*/\2/p'); do
    grep -qF -- "${option//-/\\-}" "$man/$tool.1" || { echo "not ok: the man page of $tool lacks $option"; fail=1; }
  done
done
exit $fail
