#!/bin/sh
# Tests common/source_hash.sh, which hashes a kernel's source: which edits change the hash and which do not.
. tests/tap.sh
root=$PWD
mkdir -p "$scratch/chapters/01_first" "$scratch/common/kernels" "$scratch/common/harness/gate"

# tree: writes the original files
tree() {
    cat >"$scratch/chapters/01_first/gate.cu" <<'KERNEL'
/** A kernel. */
#include "kernels/sum.cuh"
#include "gate/gate.h"
#include "gate/workspace.h"
#include "beside.h"
#include <cuda_runtime.h>
// #include "kernels/gone.cuh"

#define TWICE(x) \
    ((x) + (x))
#define TEXT(x) \
    #x
#ifdef __CUDACC__
enum { ON_A_GPU = 1 };
#endif
__global__ void kernel(int *a) { a[0] = TWICE(sum(1, 2)); } // [kernel]
const char *text = "/* no comment */ // nor this";
KERNEL
    echo 'enum { BESIDE = 1 };' >"$scratch/chapters/01_first/beside.h"
    printf '#include "kernels/dtype.cuh"\nstatic int sum(int a, int b) { return a + b; }\n' \
        >"$scratch/common/kernels/sum.cuh"
    printf '#pragma once\n#include "sum.cuh"\nstruct dtype { int size; };\n' >"$scratch/common/kernels/dtype.cuh"
    echo 'struct gate_problem { int topk; };' >"$scratch/common/harness/gate/gate.h"
    echo 'enum { WORDS = 64 };' >"$scratch/common/harness/gate/workspace.h"
}

hash() {
    (cd "$scratch" && sh "$root/common/source_hash.sh" chapters/01_first/gate.cu "$@" 2>&1)
}

# edit FILE SED: sets $edited to the hash of the tree with one change, and restores the tree
edit() {
    sed "$2" "$scratch/$1" >"$scratch/edited"
    succeeds "there is something to edit: $2" sh -c '! cmp -s "$1" "$2"' sh "$scratch/edited" "$scratch/$1"
    cp "$scratch/edited" "$scratch/$1"
    edited=$(hash)
    tree
}

changes() {
    edit "$2" "$3"
    succeeds "another hash: $1" [ "$edited" != "$before" ]
}

keeps() {
    edit "$2" "$3"
    equal "the same hash: $1" "$before" "$edited"
}

kernel=chapters/01_first/gate.cu
tree
before=$(hash)
matches 'a SHA-256' "$(printf '%64s' '' | sed 's/ /[0-9a-f]/g')" "$before"
equal 'the same again' "$before" "$(hash)"
mkdir "$scratch/bin"
for compiler in /usr/bin/gcc-[1-9][0-9]; do
    ln -sf "$compiler" "$scratch/bin/gcc"
    equal "the same hash: $compiler" "$before" "$(PATH=$scratch/bin:$PATH hash)"
done
changes 'a number' $kernel 's/sum(1, 2)/sum(1, 3)/'
changes 'a definition' $kernel 's/((x) + (x))/(2 * (x))/'
changes 'a use of it' $kernel 's/TWICE(sum(1, 2))/2 * sum(1, 2)/'
changes 'a condition' $kernel 's/__CUDACC__/__CUDA_ARCH__/'
changes 'what gcc would leave out' $kernel 's/ON_A_GPU = 1/ON_A_GPU = 2/'
changes 'a text that looks like a comment' $kernel 's/no comment/a comment/'
changes 'two words that become one' $kernel 's/const char/constchar/'
changes 'a pragma' $kernel 's/^__global__/#pragma unroll 4\n&/'
changes 'a header of the simulator no more' $kernel '/cuda_runtime/d'
changes 'a device function' common/kernels/sum.cuh 's/a + b/b + a + 0/'
changes 'what that one includes' common/kernels/dtype.cuh 's/int size/long size/'
changes 'a header beside the kernel' chapters/01_first/beside.h 's/1/2/'
changes "a header of the harness" common/harness/gate/workspace.h 's/64/65/'
changes 'a header less' $kernel '/beside/d'
keeps "an option more in the operator's header" common/harness/gate/gate.h 's/topk;/topk, shared;/'
keeps 'a comment' $kernel 's/A kernel/The kernel/'
keeps 'a comment at the end of a line' $kernel 's|// \[kernel\]||'
keeps 'a comment between two words' $kernel 's|void kernel|void /* it */ kernel|'
keeps 'a comment of more lines' $kernel 's|^/\*\* A kernel|/**\n * A kernel\n *|'
keeps "a device function's comment" common/kernels/sum.cuh 's|^static|// adds\n&|'
keeps 'lines broken elsewhere' $kernel 's/{ a\[0\]/{\n    a[0]/; s/; }/;\n}/'
keeps 'spaces around signs' $kernel 's/(x) + (x)/( x )+( x )/'
keeps 'another indentation' $kernel 's/^    /\t/'
keeps 'an empty line' $kernel 's/^__global__/\n&/'
mkdir "$scratch/common/more"
mv "$scratch/common/kernels/dtype.cuh" "$scratch/common/more/dtype.cuh"
sed -i 's/sum.cuh/..\/kernels\/sum.cuh/' "$scratch/common/more/dtype.cuh"
sed -i 's|kernels/dtype|more/dtype|' "$scratch/common/kernels/sum.cuh"
equal 'the same hash: a header that moved' "$before" "$(hash)"
tree

hash "$scratch/made.c" >/dev/null
equal 'what Ninja must know' \
    "$scratch/made.c: chapters/01_first/gate.cu common/kernels/sum.cuh common/harness/gate/workspace.h \
chapters/01_first/beside.h common/kernels/dtype.cuh" "$(sed "s| $root/common/source_hash.sh||" "$scratch/made.c.d")"
succeeds 'the script itself among it' grep -q "source_hash.sh" "$scratch/made.c.d"
rm "$scratch/common/kernels/dtype.cuh"
equal 'a header that is not there' 'source_hash.sh: common/kernels/sum.cuh: "kernels/dtype.cuh" is not there' "$(hash)"
hash >/dev/null
equal 'and no success' 1 $?
rm "$scratch/$kernel"
equal 'no kernel' "source_hash.sh: $kernel is not there" "$(hash)"
matches 'no argument' 'usage: *' "$(sh common/source_hash.sh 2>&1)"

for chapter in chapters/*/; do
    kernel=$(ls "$chapter"gate.c "$chapter"*.cu 2>/dev/null)
    [ "$kernel" ] || continue # chapter 18 uses the kernels of other chapters
    succeeds "$kernel has one" sh common/source_hash.sh "$kernel"
done
finish
