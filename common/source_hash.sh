#!/bin/sh
# Prints the SHA-256 of what a kernel file is as source: the file and every header of the project that it or one of them
# includes ("..." in quotes), each once, without comments and however the text is laid out. A change of a device function in
# common/kernels changes it, a corrected comment does not.
#
#   sh common/source_hash.sh FILE [OUT]      with OUT, OUT.d tells Ninja of which files OUT is made
#
# A header lies in the folder of the file that includes it, in common/, or in common/harness/. Run in the repository's root.
set -eu
[ $# -ge 1 ] || { echo 'usage: sh common/source_hash.sh FILE [OUT]' >&2; exit 2; }

fail() {
    echo "source_hash.sh: $*" >&2
    exit 1
}

# find_header FILE NAME: where the header lies that FILE includes
find_header() {
    for folder in "$(dirname "$1")" common common/harness; do
        if [ -f "$folder/$2" ]; then
            realpath --relative-to=. "$folder/$2"
            return
        fi
    done
    fail "$1: \"$2\" is not there"
}

[ -f "$1" ] || fail "$1 is not there"
out=${2:-}
files=$1
text=$(mktemp)
trap 'rm -f "$text"' EXIT
set -- "$1"
while [ $# -gt 0 ]; do
    # Comments go; macros and system headers stay as written.
    source=$(gcc -w -fpreprocessed -dD -E -P -x c++ "$1")
    printf '%s\n' "$source" | grep -v '^ *# *include *"' >>"$text" || :
    for name in $(printf '%s\n' "$source" | sed -n 's/^ *# *include *"\(.*\)".*/\1/p'); do
        header=$(find_header "$1" "$name")
        case " $files " in
        *" $header "*) ;;
        *)
            files="$files $header"
            set -- "$@" "$header"
            ;;
        esac
    done
    shift
done
[ -z "$out" ] || echo "$out: $files $0" >"$out.d"
# A space on both sides of every sign, and one for all other space: the layout is gone.
sed 's/\\$//; s/[^[:alnum:]_]/ & /g' "$text" | tr -s '[:space:]' ' ' | sha256sum | cut -d ' ' -f 1
