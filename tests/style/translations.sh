#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Languages are well-formed and complete. usage: translations.sh SOURCE
set -u
source=$1 fail=0
cd "$source" || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
grep -v '^#' po/POTFILES > "$tmp/files"
xgettext -f "$tmp/files" --from-code=UTF-8 -k_ -kN_ -kg_dngettext:2,3 -o "$tmp/axon.pot" 2> "$tmp/log" || { cat "$tmp/log"; exit 1; }
for language in $(grep -v '^#' po/LINGUAS); do
  mkdir -p "$tmp/$language/LC_MESSAGES"
  msgfmt --check -o "$tmp/$language/LC_MESSAGES/axon-1.0.mo" "po/$language.po" || fail=1
  msgmerge -q --no-fuzzy-matching -o "$tmp/merged.po" "po/$language.po" "$tmp/axon.pot"
  missing=$(msgattrib --untranslated --no-obsolete --no-wrap "$tmp/merged.po" | sed -n 's/^msgid //p' | sed 1d)
  if [ -n "$missing" ]; then
    # Who adds a message need not speak every language.
    echo "$language lacks $(grep -c . <<< "$missing") messages:"
    head -n 5 <<< "$missing"
  fi
done
exit $fail
