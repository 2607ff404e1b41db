#!/bin/sh
# Explains why a program was not linked: if OBJECT, compiled from SOURCE, defines NAME as a C++ function, prints that it
# must be `extern "C"`, because C files know it by its C name. Always exits with 1.
#
#   sh common/ninja/explain_link.sh OBJECT SOURCE NAME
if nm "$1" 2>/dev/null | grep -q " T _Z${#3}$3"; then
    printf '%s: %s() is a C++ function, which a C file cannot call: write extern "C" before it\n' "$2" "$3" >&2
fi
exit 1
