#!/bin/sh
# Tests common/architectures.sh with a stub nvcc: which files the script compiles, and that it fails if any file does
# not compile.
. tests/tap.sh
unset SHARE
toolkit=$scratch/toolkit
mkdir -p "$toolkit/bin"
cat >"$toolkit/bin/nvcc" <<END
#!$(command -v sh)
case \$* in
--version) echo 'release 13.0, V13.0.1' ;;
--help*) echo '--Ofast-compile <level>      (-Ofc)' ;;
*) echo "\$*" >>"$scratch/asked"; case \$* in *"\$BAD"*) echo 'error: what?'; exit 1 ;; esac ;;
esac
END
chmod +x "$toolkit/bin/nvcc"

# compile BAD ARGUMENT...: runs the script with an nvcc that rejects BAD; prints the exit status and the output, without
# the lines for files that compile
compile() {
    bad=$1
    shift
    : >"$scratch/asked"
    said=$(BAD=$bad CUDA_HOME=$toolkit ARCHITECTURES=${only:-} sh common/architectures.sh "$@" 2>&1)
    echo "$? $(echo "$said" | grep -v '^ok ')"
}
only=
target=build/gpu/obj/13c_gate_fewer_instructions/gate.o
equal 'a target of one kernel' '0 1 of 1 kernel files compile for every architecture, without a warning' \
    "$(compile none $target)"
matches 'with its own options, for all architectures, warnings being errors' \
    '-std=c++17 *-include kernels/red* *--Ofast-compile=mid -Werror all-warnings -fatbin *13c_*/gate.cu *=compute_75,* *=compute_120,*' \
    "$(cat "$scratch/asked")"
equal 'a file of several programs is compiled once' \
    '0 1 of 1 kernel files compile for every architecture, without a warning' \
    "$(compile none $target build/gpu/obj/13c_gate_fewer_instructions_few/gate.o)"
equal 'two kernels' '0 2 of 2 kernel files compile for every architecture, without a warning' \
    "$(compile none $target build/gpu/obj/15_one_launch/routing.o)"
equal 'one that does not compile' '1 FAILED chapters/13c_gate_fewer_instructions/gate.cu
error: what?
0 of 1 kernel files compile for every architecture, without a warning' "$(compile 13c_gate $target)"
equal 'a target without a kernel' '1 0 of 0 kernel files compile for every architecture, without a warning' \
    "$(compile none build/gpu/obj/13c_gate_fewer_instructions/main.o)"
only=sm_75
exercises=$(ls -d exercises/[0-9]*/ | wc -l)
equal 'the exercises, for one architecture' \
    "0 $exercises of $exercises kernel files compile for sm_75, without a warning" \
    "$(compile none)"
equal 'every one was' "$exercises" "$(grep -c 'exercises/.*/exercise.cu .*code=sm_75$' "$scratch/asked")"
equal 'and no other architecture' '' "$(grep sm_80 "$scratch/asked")"
for share in 0/2 1/2; do
    SHARE=$share BAD=none CUDA_HOME=$toolkit ARCHITECTURES=$only sh common/architectures.sh | grep '^ok '
done >"$scratch/shares"
equal 'two shares: every exercise once' "$exercises $exercises" \
    "$(wc -l <"$scratch/shares") $(sort -u "$scratch/shares" | wc -l)"
finish
