# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of Axon's tools for bash: options as --help lists them, devices and their properties as axon-inspect does.

_axon_devices ()
{
  axon-inspect 2>/dev/null | sed -n 's/^\([^ ]*\)$/\1/p'
}

# The keys that may be written, of the device that the command line names.
_axon_keys ()
{
  local i device=CPU
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      -d) device=${COMP_WORDS[i + 1]} ;;
      --device) device=${COMP_WORDS[i + 2]} ;; # after the = that bash makes a word of
    esac
  done
  axon-inspect -d "$device" 2>/dev/null | sed -nE 's/^  ([A-Z_0-9]+) +RW .*/\1=/p'
}

_axon ()
{
  local tool=$1 cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} words
  if [ "$cur" = "=" ]; then
    cur=
  elif [ "$option" = "=" ]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $option in
    -d | --device) words=$(_axon_devices) ;;
    -c | --config) words=$(_axon_keys) ;;
    *)
      [[ $cur == -* ]] || return # files
      words=$(LC_ALL=C "$tool" --help 2>/dev/null | sed -nE 's/^  (-., )?(--[a-z-]+=?).*/\2/p')
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}

complete -o default -F _axon axon-bench axon-compile axon-inspect axon-run
