#!/bin/sh
# Tests common/ninja/mpi.sh and the rule in build.ninja that uses it, with stubs of MPI and NCCL: which flags a file is
# compiled with, and that running `ninja` is enough to use either library, however it was installed.
. tests/tap.sh
bin="$scratch/a folder/bin"
export CUDA_HOME="$scratch/cuda"
mkdir -p "$bin" "$CUDA_HOME/bin"
printf '#!/bin/sh\n' >"$CUDA_HOME/bin/nvcc"
chmod +x "$CUDA_HOME/bin/nvcc"
for tool in sh gcc as ld ar ninja cmp mv rm sed tr sort dirname find head readlink cat; do
    ln -s "$(command -v $tool)" "$bin/$tool"
done
# here COMMAND...: runs the command with only $bin in PATH
here() {
    PATH=$bin "$@"
}

# A program that the repository's rule builds from one file.
cat >"$scratch/asks.c" <<'EOF'
#ifdef HAVE_MPI
#include <mpi.h>
#endif
#ifdef HAVE_NCCL
#include <nccl.h>
#endif
#include <stdio.h>
#ifndef MPI
#define MPI "none"
#endif
#ifndef NCCL
#define NCCL "none"
#endif
int main(void) { return !puts(MPI " " NCCL); }
EOF
for connection in mpi nccl; do
    {
        printf 'builddir = %s/%s.build\ncc = gcc\ncflags = -O1\n' "$scratch" $connection
        sed -n '/^rule connection/,/^$/p' build.ninja
        # shellcheck disable=SC2016 # Ninja expands the variables
        printf 'rule link\n  command = gcc -o $out $in && echo linked >>%s/linked\n' "$scratch"
        printf 'build %s/%s.a: connection %s/asks.c\n  connection = %s\n' "$scratch" $connection "$scratch" $connection
        printf 'build %s/%s: link %s/%s.a\ndefault %s/%s\n' "$scratch" $connection "$scratch" $connection "$scratch" \
            $connection
    } >"$scratch/$connection.ninja"
done

# built CONNECTION: builds the program; prints the libraries with which it was built
built() {
    here ninja -f "$scratch/$1.ninja" >"$scratch/said" 2>&1 || cat "$scratch/said"
    "$scratch/$1"
}

# installs COMMAND...: runs the command at least a second later, because a file system may record times in whole seconds
installs() {
    sleep 1.1
    "$@"
}
with_mpicc() {
    cat >"$bin/mpicc" <<EOF
#!/bin/sh
case \$* in
*compile) echo "-I$scratch/openmpi/include -pthread" ;;
*link) echo "-L$scratch/openmpi/lib -lmade_up_mpi" ;;
esac
EOF
    chmod +x "$bin/mpicc"
}
with_library() {
    mkdir -p "$scratch/openmpi/lib"
    echo 'int MPI_Init(int *count, char ***words) { return !count && !words; }' | gcc -x c -c - -o "$scratch/init.o"
    ar rcs "$scratch/openmpi/lib/libmade_up_mpi.a" "$scratch/init.o"
}
with_header() {
    mkdir -p "$scratch/openmpi/include"
    printf 'int MPI_Init(int *, char ***);\n#define MPI "MPI"\n' >"$scratch/openmpi/include/mpi.h"
}
nccl_header() { mkdir -p "$CUDA_HOME/include" && echo '#define NCCL "NCCL"' >"$CUDA_HOME/include/nccl.h"; }
nccl_library() { mkdir -p "$CUDA_HOME/lib64" && : >"$CUDA_HOME/lib64/libnccl.so"; }

equal 'neither is there' 'none none' "$(built mpi)"
: >"$scratch/linked"
installs touch "$bin/another_program"
equal 'another program is installed' 'none none' "$(built mpi)"
equal 'nothing is linked for that' '' "$(cat "$scratch/linked")"
matches 'and once it was looked for, there is nothing to do' '*no work to do*' "$(here ninja -f "$scratch/mpi.ninja")"
equal 'the same for GPUs' 'none none' "$(built nccl)"
installs with_mpicc
equal 'mpicc without headers, as it is where only mpirun was asked for' 'none none' "$(built mpi)"
installs with_header
equal 'headers without the library' 'none none' "$(built mpi)"
installs with_library
equal 'MPI is whole' 'MPI none' "$(built mpi)"
equal 'its flags: compile' "-I$scratch/openmpi/include -DHAVE_MPI " "$(here sh common/ninja/mpi.sh compile mpi gcc)"
equal 'its flags: link' "-L$scratch/openmpi/lib -lmade_up_mpi " "$(here sh common/ninja/mpi.sh link mpi gcc)"
matches 'nothing is left to do' '*no work to do*' "$(here ninja -f "$scratch/mpi.ninja")"
equal 'a program for GPUs has it' 'MPI none' "$(built nccl)"
installs mkdir "$CUDA_HOME/include" "$CUDA_HOME/lib64"
equal 'no NCCL yet' 'MPI none' "$(built nccl)"
installs nccl_header
equal 'the header of NCCL without the library' 'MPI none' "$(built nccl)"
installs nccl_library
equal 'NCCL is whole' 'MPI NCCL' "$(built nccl)"
rm -r "$scratch/openmpi/include"
equal 'the headers of MPI are removed: GPUs' 'none NCCL' "$(built nccl)"
equal 'the headers of MPI are removed' 'none none' "$(built mpi)"
rm "$CUDA_HOME/include/nccl.h"
equal 'NCCL is removed' 'none none' "$(built nccl)"
rm "$bin/mpicc"
equal 'mpicc is removed' 'none none' "$(built mpi)"
finish
