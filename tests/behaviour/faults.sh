#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The suite proves itself: device FAULTY without a fault passes all of it, and for each group the
# fault seeded there makes that group fail. usage: faults.sh axon-behaviour
set -u
suite=$1
fail=0
say() { echo "$1"; [ -z "${2:-}" ] || fail=1; }
groups=$("$suite" --device FAULTY -l | grep -o '/behaviour/[^/]*/' | cut -d/ -f3 | sort -u)
[ "$(echo "$groups" | wc -l)" -ge 16 ] || say "the suite lists only: $groups" x
"$suite" --device FAULTY >/tmp/axon-faults.$$ 2>&1 && say "ok: without a fault everything passes" ||
  { tail -5 /tmp/axon-faults.$$; say "not ok: FAULTY fails without a fault" x; }
for group in $groups; do
  if ("$suite" --device FAULTY --config FAULT="$group" -p "/behaviour/$group") >/tmp/axon-faults.$$ 2>&1; then
    say "not ok: group $group does not find the fault seeded in it" x
  else
    say "ok: group $group finds its fault: $(grep -m1 -oE '[a-z_]+: assertion failed.*' /tmp/axon-faults.$$ | cut -c1-100)"
  fi
done
rm -f /tmp/axon-faults.$$
exit $fail
