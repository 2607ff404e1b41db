#!/bin/sh
# Compiles a kernel file for the CPU. The arguments are those of a compiler:
#
#   sh common/ninja/kernel.sh REWRITER COMPILER FLAG... -MMD -MF DEPFILE -c IN.cu -o OUT
#
# The rewriter changes the file and the headers *.cuh in its folder: it turns k<<<...>>>(...) into a call and adds a
# check to each array index, without changing line numbers. The resulting C++ is in OUT.rewritten, where it is compiled.
# The headers in common/kernels, except for those that the simulator replaces with its own versions, are rewritten into
# the rewriter's folder, which all kernels share.
set -eu

# fail REASON: ends the compilation with a one-line message
fail() {
    echo "kernel.sh: $1" >&2
    exit 2
}

[ $# -ge 2 ] || fail 'REWRITER and COMPILER are missing'
rewriter=$1
shift
shared=$(dirname "$rewriter")/rewritten
last=
for word in "$@"; do # the words before -MF remain as arguments
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
[ "${depfile:-}" ] || fail '-MMD -MF FILE is missing: add it before -c, as in -MMD -MF build/own.d'
[ "${in:-}" ] || fail '-c FILE.cu is missing: after -MF FILE'
[ "${out:-}" ] || fail '-o FILE.o is missing: after -c FILE.cu'
[ -e "$in" ] || fail "$in: No such file or directory"
rewritten=$out.rewritten
folder=$(dirname "$in")
mkdir -p "$rewritten"
for file in "$in" "$folder"/*.cuh; do
    [ ! -f "$file" ] || "$rewriter" "$file" >"$rewritten/${file##*/}"
done
mkdir -p "$shared/kernels"
for file in "$shared"/kernels/*.cuh; do # removes headers that no longer exist
    [ -f "common/kernels/${file##*/}" ] || rm -f "$file"
done
for file in common/kernels/*.cuh; do
    to=$shared/kernels/${file##*/}
    if ! [ -f "common/simt/kernels/${file##*/}" ] && ! { [ "$to" -nt "$file" ] && [ "$to" -nt "$rewriter" ]; }; then
        "$rewriter" "$file" >"$to.$$"
        mv "$to.$$" "$to"
    fi
done
set -- "$@" "$depfile" -iquote "$folder" -x c++ -c "$rewritten/${in##*/}" -o "$out"
status=0
"$@" 2>"$rewritten/errors" || status=$?
# Exceptions and RTTI change the code generated for kernels, so they are enabled only for files whose host code uses
# them.
if [ "$status" != 0 ] && grep -q -e '-fexceptions\|exceptions disabled\|-fno-rtti\|-frtti' "$rewritten/errors"; then
    status=0
    "$@" -fexceptions -frtti 2>"$rewritten/errors" || status=$?
fi
cat "$rewritten/errors" >&2
[ "$status" = 0 ] || exit "$status"
sed -i "s|$rewritten/|$folder/|g; s|$shared/|common/|g; s|\($in\) |\1 $rewriter |; s|\($in\)\$|\1 $rewriter|" "$depfile"
