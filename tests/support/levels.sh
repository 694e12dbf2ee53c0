#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a command once for each level of instructions that the processor has (AXON_CPU_ISA), a process
# for each, the smallest first. Fails if one fails, naming the level. With --lower, not at the best
# one, which the command without this script runs at.
# usage: levels.sh [--lower] AXON-INSPECT COMMAND [ARGUMENT...]
set -u
lower=
[ "$1" != --lower ] || { lower=yes; shift; }
inspect=$1; shift
read -ra levels < <("$inspect" --device CPU | sed -nE 's/^ *CPU_ISA_AVAILABLE +RO +([A-Z0-9_]+( [A-Z0-9_]+)*)( .*|$)/\1/p')
[ ${#levels[@]} -gt 0 ] || { echo "axon-inspect --device CPU tells no CPU_ISA_AVAILABLE"; exit 1; }
[ -z "$lower" ] || unset "levels[-1]"
log=$(mktemp); trap 'rm -f "$log"' EXIT
failed=() skipped=0
for level in "${levels[@]}"; do
  AXON_CPU_ISA=$level "$@" > "$log" 2>&1; status=$?
  if [ $status = 77 ]; then skipped=$((skipped + 1)); cat "$log"; continue; fi
  echo "$level: $(tail -n 1 "$log")"
  [ $status = 0 ] || { failed+=("$level"); sed "s/^/$level: /" "$log" | grep -vE ": (ok|# (Start|End)) "; }
done
[ ${#failed[@]} = 0 ] || { echo "fails at ${failed[*]} (AXON_CPU_ISA), of ${levels[*]}"; exit 1; }
[ $skipped = 0 ] || exit 77
echo "passes at ${levels[*]:-no lower level than the best}"
