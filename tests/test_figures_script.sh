#!/bin/sh
# Tests tests/gpu/figures.sh with a stub nvcc: the JSON that the script makes from a program's output.
. tests/tap.sh
mkdir -p "$scratch/bin"

# fake COMMAND BODY: makes a stub of a command
fake() {
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}
fake nvidia-smi 'case $* in *compute_cap*) echo 9.0 ;; *) echo "NVIDIA H200" ;; esac'
# nvcc_makes BODY: makes an nvcc whose output is always a program with this body
nvcc_makes() {
    fake nvcc "case \$1 in --version) echo 'release 13.0, V13.0.88'; exit ;; esac
while [ \"\$1\" != -o ]; do shift; done
printf '%s\n' '#!/bin/sh' '$1' >\"\$2\"; chmod +x \"\$2\""
}
figures() { CUDA_HOME=$scratch PATH=$scratch/bin:$PATH sh tests/gpu/figures.sh cycles; }

nvcc_makes 'echo shuffle 23.5 cycles; echo rounds 10 rounds'
figures >"$scratch/figures.json" 2>"$scratch/err"
equal 'it ends well' 0 $?
equal 'what was printed' \
    "cycles NVIDIA H200 13.0 $(sh common/source_hash.sh tests/gpu/cycles.cu) shuffle 23.5 rounds 10" \
    "$(python3 -c 'import json, sys
run = json.load(sys.stdin)
print(run["peer"], run["gpu"], run["cuda"], run["kernel_source_sha256"],
      *(at[key] for at in run["figures"] for key in ("figure", "value")))' <"$scratch/figures.json")"
said=$(sh tests/gpu/figures.sh 2>&1)
equal 'which figures' '2 figures.sh: which figures? Either cycles or store_rate' "$? $said"
nvcc_makes 'exit 1'
equal 'nothing is printed of a program that fails' '' "$(figures 2>"$scratch/err")"
finish
