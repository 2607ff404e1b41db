#!/bin/sh
# Runs a Python program with a Python that has a module: sh common/python.sh MODULE PROGRAM.py ARGUMENT...
#
# The first in PATH may be a Python of the user's own, without what the system's packages bring.
module=$1
shift
for python in python3 /usr/bin/python3; do
    if "$python" -c "import $module" 2>/dev/null; then
        exec "$python" "$@"
    fi
done
echo "no python3 here has $module: sh common/setup.sh docs checks installs it" >&2
exit 1
