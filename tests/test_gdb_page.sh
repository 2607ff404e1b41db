#!/bin/sh
# Checks that gdb prints the output shown on the page about gdb. Builds the simulator and a chapter without optimisation.
#
# run in all:
. tests/tap.sh

gdb_page=docs/pages/stepping_in_gdb.md
if ! command -v gdb >/dev/null; then
    skip 'gdb prints what its page says' 'gdb is not installed'
elif [ "$(uname -m)" != x86_64 ]; then
    skip 'gdb prints what its page says' 'docs/lane.gdb is for x86-64'
else
    sed "s|^b = build\$|b = $scratch/debug|; s|^as_written = -O1|as_written = -O0|" build.ninja >"$scratch/debug.ninja"
    program=$scratch/debug/cpu/02_warp_per_group
    succeeds 'the build for gdb' ninja -f "$scratch/debug.ninja" "$program"
    sed -n 's/^(gdb) //p' "$gdb_page" >"$scratch/script"
    equal 'gdb prints what its page says' "$(grep '^\$[0-9]* = ' "$gdb_page")" \
        "$(timeout 120 gdb -q -batch -ex 'set confirm off' -x "$scratch/script" "$program" 2>/dev/null | grep '^\$[0-9]* = ')"
fi
finish
