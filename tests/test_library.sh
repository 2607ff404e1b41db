#!/bin/sh
# Tests which files common/ninja/library.sh, which makes a library from the sources in folders, recompiles after a
# change, and which arguments common/ninja/kernel.sh, which compiles a kernel, needs.
. tests/tap.sh

# library FOLDER...: makes the library; prints the sources that were compiled
library() {
    sh common/ninja/library.sh "$scratch/lib.a" "${compile:-gcc -O1}" "$@" 2>"$scratch/errors" ||
        { echo "exit status $?"; return; }
    cut -d ' ' -f 1 "$scratch"/lib.a.objects/stale | xargs -r -n 1 basename
}

# older: backdates all files, so that they are older than later changes
older() {
    find "$scratch" -type f -exec touch -d '1 hour ago' {} +
}

mkdir "$scratch/a" "$scratch/b"
echo 'enum { ONE = 1 };' >"$scratch/a/one.h"
printf '#include "one.h"\nint one(void) { return ONE; }\n' >"$scratch/a/one.c"
echo 'int two(void) { return 2; }' >"$scratch/a/two.c"
echo 'int three(void) { return 3; }' >"$scratch/b/three.c"

equal 'all files of all folders' 'one.c two.c three.c' "$(echo $(library "$scratch/a" "$scratch/b"))"
equal 'and all are in it' 'one.o three.o two.o' "$(echo $(ar t "$scratch/lib.a" | sed 's/.*_//' | sort))"
equal 'nothing a second time' '' "$(library "$scratch/a" "$scratch/b")"
older
touch "$scratch/a/two.c"
equal 'a file that changed' 'two.c' "$(library "$scratch/a" "$scratch/b")"
older
touch "$scratch/a/one.h"
equal 'a file whose header changed' 'one.c' "$(library "$scratch/a" "$scratch/b")"
equal 'other flags' 'one.c two.c three.c' "$(echo $(compile='gcc -O0' library "$scratch/a" "$scratch/b"))"
equal 'and the old ones again' 'one.c two.c three.c' "$(echo $(library "$scratch/a" "$scratch/b"))"
echo 'int four(void) { return 4; }' >"$scratch/b/four.c"
equal 'a new file' 'four.c' "$(library "$scratch/a" "$scratch/b")"
rm "$scratch/a/two.c"
equal 'a file less' '' "$(library "$scratch/a" "$scratch/b")"
equal 'is not in it any more' 'four.o one.o three.o' "$(echo $(ar t "$scratch/lib.a" | sed 's/.*_//' | sort))"
matches 'Ninja is told of headers' "*$scratch/a/one.h*" "$(cat "$scratch/lib.a.d")"
older
printf '#!/bin/sh\nsed "s/KERNEL/int/" "$1"\n' >"$scratch/rewriter"
chmod +x "$scratch/rewriter"
export compile_kernel="sh common/ninja/kernel.sh $scratch/rewriter g++ -O1"
printf '#include "../a/one.h"\nKERNEL five() { return ONE; }\n' >"$scratch/b/test_five.cu"
equal 'tests that are kernels, where there is a compiler of them' 'one.c four.c test_five.cu three.c' \
    "$(echo $(library "$scratch/a" "$scratch/b"))"
equal 'nothing a second time' '' "$(library "$scratch/a" "$scratch/b")"
for changed in a/one.h b/test_five.cu rewriter; do
    older
    touch "$scratch/$changed"
    matches "a kernel's $changed changed" '*test_five.cu' "$(echo $(library "$scratch/a" "$scratch/b"))"
done

# refused NAME REASON ARGUMENT...: checks that the compilation of a kernel is rejected and leaves nothing
refused() {
    name=$1
    reason=$2
    shift 2
    said=$($compile_kernel "$@" 2>&1)
    equal "$name" "2 kernel.sh: $reason no" "$? $said $([ -e "$scratch/none.o.rewritten" ] && echo yes || echo no)"
}

refused 'a kernel that does not exist is named as it was given' "$scratch/b/none.cu: No such file or directory" \
    -MMD -MF "$scratch/none.d" -c "$scratch/b/none.cu" -o "$scratch/none.o"
refused 'no file for the names of the headers' \
    '-MMD -MF FILE is missing: add it before -c, as in -MMD -MF build/own.d' \
    -c "$scratch/b/test_five.cu" -o "$scratch/none.o"
refused 'no kernel' '-c FILE.cu is missing: after -MF FILE' -MMD -MF "$scratch/none.d" -o "$scratch/none.o"
refused 'no object file' '-o FILE.o is missing: after -c FILE.cu' \
    -MMD -MF "$scratch/none.d" -c "$scratch/b/test_five.cu"
unset compile_kernel
equal 'and no kernels without' 'one.c four.c three.c' "$(echo $(library "$scratch/a" "$scratch/b"))"
older
echo 'int four(void) { return; ' >"$scratch/b/four.c"
matches 'a mistake ends it' 'exit status *' "$(library "$scratch/a" "$scratch/b")"
matches 'with what the compiler says' '*four.c:1:*' "$(cat "$scratch/errors")"
rm "$scratch/a/one.h"
echo 'int four(void) { return 4; }' >"$scratch/b/four.c"
matches 'a header that is gone' 'exit status *' "$(library "$scratch/a" "$scratch/b")"
finish
