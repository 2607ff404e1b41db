#!/bin/sh
# Runs the first python3 that has the given modules: sh common/python.sh MODULE,... ARGUMENT...
#
# The first python3 in PATH may be the user's own, without the modules from the system's packages. Exits with 127 if no
# python3 has the modules, and with 2 if the first argument cannot be a module's name.
case $#${1:-} in
0) refusal='no modules; ' ;;
*/* | *.py | [0-9]*-*) refusal="'$1' is no module; the first argument names the modules that Python must have; " ;;
*) refusal= ;;
esac
if [ "$refusal" ]; then
    echo "python.sh: ${refusal}usage: sh common/python.sh MODULE,... ARGUMENT..., as in" \
        "sh common/python.sh torch ${1:-FILE.py}" >&2
    exit 2
fi
modules=$1
shift
for python in python3 /usr/bin/python3; do
    # shellcheck disable=SC2046 # the modules must split into words
    if "$python" -c 'import importlib.util, sys; sys.exit(None in map(importlib.util.find_spec, sys.argv[1:]))' \
        $(echo "$modules" | tr , ' ') 2>/dev/null; then
        exec "$python" "$@"
    fi
done
echo "no python3 here has $modules: sh common/setup.sh docs checks installs every module that the course needs" >&2
exit 127
