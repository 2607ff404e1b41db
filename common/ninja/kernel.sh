#!/bin/sh
# Compiles a kernel file for the CPU, as a compiler that is called with these words would:
#
#   sh common/ninja/kernel.sh REWRITER COMPILER FLAG... -MMD -MF DEPFILE -c IN.cu -o OUT
#
# k<<<...>>>(...) becomes a call, line for line, and each index of an array is held against its bounds, in the file and
# in the headers beside it, *.cuh. What comes of them is C++, lies in OUT.rewritten, and is compiled. So are the headers
# in common/kernels, but for those of which the simulator has its own; all kernels share them, rewritten, in the
# rewriter's folder.
set -eu
rewriter=$1
shift
shared=$(dirname "$rewriter")/rewritten
last=
for word in "$@"; do # what stays are the words up to -MF
    shift
    case $last in
    -MF) depfile=$word ;;
    -c) in=$word ;;
    -o) out=$word ;;
    esac
    last=$word
    [ "$word" != -Icommon ] || set -- "$@" "-I$shared"
    [ "${depfile:-}" ] || set -- "$@" "$word"
done
rewritten=$out.rewritten
folder=$(dirname "$in")
mkdir -p "$rewritten"
for file in "$in" "$folder"/*.cuh; do
    [ ! -f "$file" ] || "$rewriter" "$file" >"$rewritten/${file##*/}"
done
mkdir -p "$shared/kernels"
for file in "$shared"/kernels/*.cuh; do # of headers that are gone
    [ -f "common/kernels/${file##*/}" ] || rm -f "$file"
done
for file in common/kernels/*.cuh; do
    to=$shared/kernels/${file##*/}
    if ! [ -f "common/simt/kernels/${file##*/}" ] && ! { [ "$to" -nt "$file" ] && [ "$to" -nt "$rewriter" ]; }; then
        "$rewriter" "$file" >"$to.$$"
        mv "$to.$$" "$to"
    fi
done
"$@" "$depfile" -iquote "$folder" -x c++ -c "$rewritten/${in##*/}" -o "$out"
sed -i "s|$rewritten/|$folder/|g; s|$shared/|common/|g; s|\($in\) |\1 $rewriter |; s|\($in\)\$|\1 $rewriter|" "$depfile"
