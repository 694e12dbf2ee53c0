# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of Axon's tools for fish: options as --help lists them, devices as axon-inspect does.
# One file under the names of all tools: fish loads it by the name of the command.

function __axon_devices
    axon-inspect 2>/dev/null | string match -r '^\S+$'
end

function __axon_complete -a tool
    $tool --help 2>/dev/null | while read -l line
        string match -qr '^\s*(?:-(?<short>\w), )?--(?<long>[\w-]+)(?<value>=\S+)?\s\s+(?<blurb>.*)' -- $line
        or continue
        set -l arguments -c $tool -l $long -d $blurb
        test -n "$short"; and set -a arguments -s $short
        switch "$long$value"
            case 'device=*'
                set -a arguments -x -a '(__axon_devices)'
            case '*=*FILE*' '*=DIR'
                set -a arguments -r -F
            case '*=*'
                set -a arguments -x
        end
        complete $arguments
    end
end

__axon_complete (status basename | string replace .fish '')
