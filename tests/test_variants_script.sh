#!/bin/sh
# Tests common/variants.sh: a change that does not apply must be an error, and every variant must have its own hash.
set -u
. "$(dirname "$0")/tap.sh"
variants=$PWD/common/variants.sh
root=$PWD
mkdir -p "$scratch/chapters/05_gate/variants"
ln -s "$root/common" "$scratch/common"
cd "$scratch" || exit 1
echo 'enum { WARPS = 6 };' >chapters/05_gate/gate.cu

# change FILE TEXT [ONE]: writes TEXT to FILE as the only variant and sets $said to the variant's hash or, if FILE
# stands for several variants, to the hash of variant ONE
change() {
    rm -f chapters/05_gate/variants/*
    printf '%s\n' "$2" >"chapters/05_gate/variants/$1"
    said=$(sh "$variants" --hash "chapters/05_gate/variants/${3:-$1}" 2>&1)
    status=$?
}

# hash TEXT: prints the hash of a kernel with this text
hash() {
    echo "$1" >as_changed.cu
    sh common/source_hash.sh as_changed.cu
}
patch_to() { printf '%s\n' '--- gate.cu' '+++ gate.cu' '@@ -1 +1 @@' "-enum { WARPS = $1 };" "+enum { WARPS = $2 };"; }

change two.sed 's/WARPS = 6/WARPS = 2/'
equal 'a sed script makes a kernel of its own' "0 $(hash 'enum { WARPS = 2 };')" "$status $said"
change three.patch "$(patch_to 6 3)"
equal 'so does a patch' "0 $(hash 'enum { WARPS = 3 };')" "$status $said"
change warps_N.sed "$(printf '%s\n' '# N: 2 12' 's/WARPS = 6/WARPS = N/')" warps_12.sed
equal 'so does a script for some numbers' "0 $(hash 'enum { WARPS = 12 };')" "$status $said"
change none.sed 's/WARPS = 7/WARPS = 2/'
equal 'a script that changes nothing' \
    '1 variants.sh: chapters/05_gate/variants/none.sed changes nothing in chapters/05_gate/gate.cu' \
    "$status $said"
sh "$variants" --hash chapters/05_gate/variants/noen.sed >said 2>&1
equal 'a script that does not exist' '2 variants.sh: chapters/05_gate/variants/noen.sed: no such variant; '\
"see chapters/*/variants, in the repository's root" "$? $(cat said)"
change warps_N.sed "$(printf '%s\n' '# N: 2 12' 's/WARPS = 6/WARPS = N/')" warps_3.sed
equal 'a number that the script does not have' \
    "2 variants.sh: chapters/05_gate/variants/warps_3.sed: no such variant; see chapters/*/variants, in the repository's root" \
    "$status $said"
sh "$variants" --hash >said 2>&1
equal 'no script' '2 variants.sh: usage: sh common/variants.sh --hash chapters/NAME/variants/CHANGE' "$? $(cat said)"
change other.patch "$(patch_to 7 3)"
equal 'a patch that does not fit' 1 "$status"
equal 'a folder of another name is no folder of programs, and nothing is built in it' \
    "variants.sh: 'build/cp' is not the folder of the programs; usage: sh common/variants.sh build/cpu|build/gpu [WORD]
2 no" "$(sh "$variants" build/cp 2>&1; echo $? "$([ -e build ] && echo yes || echo no)")"
equal 'a build that does not exist' 'variants.sh: build/gpu does not exist; ninja builds build/cpu, ninja gpu build/gpu
2' "$(sh "$variants" build/gpu 2>&1; echo $?)"
mkdir -p build/cpu
equal 'a word that no name contains' "variants.sh: no variant's name contains 'rows'; see chapters/*/variants
2" "$(sh "$variants" build/cpu rows 2>&1; echo $?)"
equal 'a chapter that is not built' \
    'variants.sh: build/cpu/05_gate is not built: ninja build/cpu/05_gate (1 variant needs it)
1' "$(sh "$variants" build/cpu other 2>&1; echo $?)"
change rows_N.sed "$(printf '%s\n' '# N: 2 12' 's/WARPS = 6/WARPS = N/')" rows_2.sed
equal 'a line for all variants of a chapter that is not built' \
    'variants.sh: build/cpu/05_gate is not built: ninja build/cpu/05_gate (2 variants need it)
1' "$(sh "$variants" build/cpu 2>&1; echo $?)"
finish
