#!/bin/sh
# Prints the SHA-256 of what a kernel file is as source: the file and every header of the project that it or one of them
# includes ("..." in quotes), each once, without comments and however the text is laid out. A change of a device
# function in common/kernels changes it, a corrected comment does not. Left out is an operator's own header,
# common/harness/NAME/NAME.h: it says what a problem is, for all programs, and one more option makes no kernel another
# one.
#
#   sh common/source_hash.sh FILE [OUT]      with OUT, OUT.d tells Ninja of which files OUT is made
#
# A header lies in the folder of the file that includes it, in common/, or in common/harness/. Run in the repository's
# root.
set -eu
[ $# -ge 1 ] || { echo 'usage: sh common/source_hash.sh FILE [OUT]' >&2; exit 2; }
export LC_ALL=C

fail() {
    echo "source_hash.sh: $1 is not there" >&2
    exit 1
}

[ -f "$1" ] || fail "$1"
files=
out=${2:-}
set -- "$1"
while [ $# -gt 0 ]; do # the arguments are files that are still to be read for what they include
    file=$1
    files="$files $file"
    shift
    for name in $(sed -n 's/^ *# *include *"\(.*\)".*/\1/p' "$file"); do
        for folder in "$(dirname "$file")" common common/harness; do
            [ ! -f "$folder/$name" ] || break
        done
        header=$(realpath -e --relative-base=. "$folder/$name" 2>/dev/null) || fail "$file: \"$name\""
        name=${header##*/}
        case $header in */harness/"${name%.h}/$name") continue ;; esac
        case " $files $* " in *" $header "*) ;; *) set -- "$@" "$header" ;; esac
    done
done
[ ! "$out" ] || echo "$out:$files $0" >"$out.d"

# gcc takes comments away and nothing more, once no line is broken: conditions and uses of macros stay.
# shellcheck disable=SC2086 # files are words
text=$(sed -e ':join' -e '/\\$/N; s/\\\n//; t join' $files | gcc -fpreprocessed -dD -E -P -w -x c++ -std=c++17 -)
# A space on both sides of every sign, and one for all other space: the layout is gone.
printf '%s\n' "$text" | sed '/^ *# *include *"/d; /^ *# *pragma once/d; s/[^[:alnum:]_]/ & /g' |
    tr -s '[:space:]' ' ' | sha256sum | cut -d ' ' -f 1
