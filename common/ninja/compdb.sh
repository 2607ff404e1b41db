#!/bin/sh
# Prints compile_commands.json: sh common/ninja/compdb.sh BUILD. What Ninja compiles it knows; libraries keep an entry
# for each of their files.
ninja -t compdb cc host kernel | sed '$d; s|sh common/ninja/kernel.sh [^ ]* ||'
cat "$1"/cpu/*.a.objects/*.json | sed 's/^/,/'
echo ']'
