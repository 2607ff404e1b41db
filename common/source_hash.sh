#!/bin/sh
# Prints the SHA-256 of a kernel's source: the file and every project header that it includes, directly or indirectly
# (in quotes: "..."), each once, without comments and independently of the layout. A changed device function in
# common/kernels changes the hash; a changed comment does not. An operator's own header, common/harness/NAME/NAME.h, is
# excluded, because it defines the problem for all programs: a new option in it changes no kernel.
#
#   sh common/source_hash.sh FILE [OUT]      with OUT, also writes to OUT.d, for Ninja, the files that OUT depends on
#
# Headers are searched for in the including file's folder, in common/ and in common/harness/. Run the script from the
# repository root.
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
while [ $# -gt 0 ]; do # the arguments are files whose includes have not been read yet
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

# Joins lines continued with a backslash; gcc then removes comments but keeps conditionals and expands no macros.
# shellcheck disable=SC2086 # the files must split into words
text=$(sed -e ':join' -e '/\\$/N; s/\\\n//; t join' $files | gcc -fpreprocessed -dD -E -P -w -x c++ -std=c++17 -)
# Normalises the layout: a space on both sides of every punctuation mark, and one space for any other white space.
printf '%s\n' "$text" | sed '/^ *# *include *"/d; /^ *# *pragma once/d; s/[^[:alnum:]_]/ & /g' |
    tr -s '[:space:]' ' ' | sha256sum | cut -d ' ' -f 1
