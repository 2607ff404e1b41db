#!/bin/sh
# Builds host code with AddressSanitizer and UndefinedBehaviorSanitizer in build/sanitize, and runs every unit test and
# every chapter on its default input. Kernels are compiled as usual, because the simulator checks their accesses.
#
#   sh tests/sanitize.sh
#
# Exits with 1 if a test failed or a sanitizer reported an error.
set -eu
b=build/sanitize
mkdir -p $b
sed "s|^b = .*|b = $b|; s|^host_flags =.*|host_flags = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer|" \
    build.ninja >$b/build.ninja
ninja build/tests/programs.a
ninja -f $b/build.ninja cpu cpu64 $b/tests/programs.a $b/tests/simt.a
cp build/tests/graded_program $b/tests # without sanitizers, which would exceed its limit on address space
# Kernels run on the simulator's stacks, which are reused, so the check for stack use after return is off.
export ASAN_OPTIONS=verify_asan_link_order=0:detect_stack_use_after_return=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

# shellcheck disable=SC2046 # one word per program
sh tests/run.sh -b $b $(cd $b && find tests -type f -perm -u+x -name 'test_*' | sed "s|^|$b/|")
for main in chapters/[0-9]*/main.c; do
    program=$b/cpu/$(basename "$(dirname "$main")")
    [ "$main" != chapters/19_sixty_four_lanes/main.c ] || program=$b/cpu64/19_sixty_four_lanes
    if "$program" >$b/out 2>&1; then
        echo "ok      $program"
    else
        cat $b/out
        exit 1
    fi
done
