#!/bin/sh
# Compiles a kernel file for the CPU, as a compiler that is called with these words would:
#
#   sh common/ninja/kernel.sh REWRITER COMPILER FLAG... -MMD -MF DEPFILE -c IN.cu -o OUT
#
# k<<<...>>>(...) becomes a call, line for line, in OUT.cc; that is C++, and is compiled.
set -eu
rewriter=$1
shift
last=
for word in "$@"; do # what stays are the words up to -MF
    shift
    case $last in
    -MF) depfile=$word ;;
    -c) in=$word ;;
    -o) out=$word ;;
    esac
    last=$word
    [ "${depfile:-}" ] || set -- "$@" "$word"
done
"$rewriter" "$in" >"$out.cc"
"$@" "$depfile" -iquote "$(dirname "$in")" -x c++ -c "$out.cc" -o "$out"
sed -i "s|$out\.cc|$in $rewriter|" "$depfile"
