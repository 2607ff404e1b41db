# Settings for the tests that build with other compilers (. tests/toolchains.sh).

# toolchain_edits COMPILER: prints a sed script that changes the variables at the top of build.ninja so that this
# compiler, such as gcc-14 or clang++-19, compiles everything
#
# Clang has no options that preserve loads and stores as in the source, so it compiles kernels without optimisation. By
# default, its thread sanitizer does not instrument a load before a store to the same address, so an option makes it do
# so.
toolchain_edits() {
    version=${1##*[a-z]}
    omp_header=$(find /usr/lib/llvm-*/lib/clang/*/include/omp.h 2>/dev/null | tail -n 1) # of any version that has it
    case $1 in
    clang*)
        echo "s|^cc = .*|cc = clang$version|"
        echo "s|^cxx = .*|cxx = clang++$version|"
        echo "s|^as_written = .*|as_written = -O0|"
        echo "s|^trace = .*|trace = -fsanitize=thread -mllvm -tsan-instrument-read-before-write=1 -mllvm -tsan-distinguish-volatile=1|"
        echo "s|^openmp = .*|openmp = -fopenmp=libgomp${omp_header:+ -idirafter ${omp_header%/*}}|"
        ;;
    *)
        echo "s|^cc = .*|cc = gcc$version|"
        echo "s|^cxx = .*|cxx = g++$version|"
        ;;
    esac
}

# toolchain_variable COMPILER NAME: prints the value of a variable in build.ninja with that compiler
toolchain_variable() {
    toolchain_edits "$1" | sed -f - build.ninja | sed -n "s/^$2 = //p"
}
