#!/bin/sh
# Prints compile_commands.json: sh common/ninja/compdb.sh BUILD. Ninja prints the entries for the commands that it runs
# itself; library.sh has stored an entry for each of its libraries' files.
ninja -t compdb cc host kernel | sed '$d; s|sh common/ninja/kernel.sh [^ ]* ||'
cat "$1"/cpu/*.a.objects/*.json | sed 's/^/,/'
echo ']'
