# test_programs.sh BUILD STEP: compiles and runs every STEPth program of programs.txt, unchanged. The programs resemble
# those in textbooks and in NVIDIA's samples; each checks its own result and prints PASSED at the end. Then checks that
# the compiler rejects kernels with mistakes that the simulator does not detect.
#
# run: $b 4
# run in all: $b 1
# takes: long

. tests/tap.sh

build=$1
compile=$(ninja -t commands "$build/tests/obj/bench_kernels.o" | sed -n '$s/ -MMD .*//p')
compiler=$(printf '%s\n' "$compile" | sed 's/.*rewrite_launch \([^ ]*\) .*/\1/')

# run_program NAME: prints the last line of the program's output, preceded by up to three errors if the compiler or the
# program fails
run_program() {
    program=$scratch/$1
    # shellcheck disable=SC2086 # flags are words
    {
        $compile -MMD -MF "$program.d" -c "$program.cu" -o "$program.o" &&
            "$compiler" "$program.o" "$build/cpu/libsimt.a" -o "$program" -lm -ldl -pthread && "$program"
    } >"$program.output" 2>"$program.errors" || grep -m 3 "$1\.cu:" "$program.errors"
    tail -n 1 "$program.output"
    rm -rf "$program" "$program.o"*
}

awk -v folder="$scratch" '/^\/\/\/\/ / { file = folder "/" $2 ".cu"; next } { print >file }' tests/simt/programs.txt
number=0
for name in $(sed -n 's|^//// ||p' tests/simt/programs.txt); do
    number=$((number + 1))
    [ $((number % $2)) -ne 0 ] || equal "$(echo "$name" | tr _ ' ')" PASSED "$(run_program "$name")"
done

# A program that ignores a fault exits with 1, unless it has chosen another status itself.
for ending in 'return 0;' 'exit(0);' 'return 3;' 'return simt_fault_message() ? 0 : 4;' \
    'return cudaGetLastError() == cudaErrorIllegalAddress ? 0 : 5;'; do
    cat >"$scratch/ignores_fault.cu" <<END
#include <cstdlib>
#include <cuda_runtime.h>
#include "simt.h"
__global__ void kernel(int *y) { y[64] = 1; }
int main()
{
    int *y;
    cudaMalloc(&y, 16);
    kernel<<<1, 1>>>(y);
    $ending
}
END
    # shellcheck disable=SC2086 # flags are words
    $compile -MMD -MF "$scratch/ignores_fault.d" -c "$scratch/ignores_fault.cu" -o "$scratch/ignores_fault.o"
    "$compiler" "$scratch/ignores_fault.o" "$build/cpu/libsimt.a" -o "$scratch/ignores_fault" -lm -ldl -pthread
    said=$("$scratch/ignores_fault" 2>&1)
    status=$?
    case $ending in
    *3*) matches "ignores a fault: $ending" "3 *out-of-bounds global access*" "$status $said" ;;
    *cudaGetLastError*) matches "ignores a fault: $ending" "0 *out-of-bounds global access*" "$status $said" ;;
    *message*) equal "ignores a fault: $ending" "0 " "$status $said" ;;
    *)
        matches "ignores a fault: $ending" \
            "1 *out-of-bounds global access*exit status 1 in place of 0, because the simulator has reported 1 fault" \
            "$status $said"
        ;;
    esac
done

for test in races copies; do
    said=$("$build/tests/simt/test_$test" abc 2>&1)
    equal "test_$test: a word that is no number" \
        "2 $build/tests/simt/test_$test: 'abc' is not a whole number; usage: $build/tests/simt/test_$test [PROGRAMS [FIRST_SEED]]" \
        "$? $said"
done

# refuses NAME BODY ERROR: checks that the compiler rejects a device function with this body
refuses() {
    printf '#include <stdio.h>\n#include <cuda_runtime.h>\n__device__ int *function(int n)\n{\n%s\n}\n' "$2" \
        >"$scratch/mistake.cu"
    # shellcheck disable=SC2086 # flags are words
    matches "$1" "*mistake.cu:*error: $3*" \
        "$($compile -MMD -MF "$scratch/mistake.d" -c "$scratch/mistake.cu" -o "$scratch/mistake.o" 2>&1)"
}
refuses 'a parameter that is a reference' \
    'return nullptr; } __global__ void kernel(const int &) {} void launch(int n) { kernel<<<1, 1>>>(n);' \
    '*a kernel?s parameter is a reference*'
# accepts NAME TEXT: checks that the compiler accepts a kernel file with this text
accepts() {
    printf '#include <cuda_runtime.h>\n%s\n' "$2" >"$scratch/good.cu"
    # shellcheck disable=SC2086 # flags are words
    equal "$1" "" "$($compile -MMD -MF "$scratch/good.d" -c "$scratch/good.cu" -o "$scratch/good.o" 2>&1)"
}
for call in __shfl __shfl_up __shfl_down __shfl_xor; do
    refuses "$call" "n += $call(n, 4u); return nullptr;" "*unavailable: *${call}_sync(mask, value, *0xffffffff*"
done
for call in __ballot __any __all; do
    refuses "$call" "n = $call(n > 1) != 0; return nullptr;" "*unavailable: *${call}_sync(mask, predicate), *0xffffffff*"
done
# The types that nvcc 13 accepts and rejects. Numbers shorter than an int are converted to int.
kinds='
#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct pair { float value; int id; };
struct number { int value; __device__ operator int() const { return value; } };
enum plain { PLAIN };
enum class scoped { SCOPED };
'
for call in '__shfl_sync(~0u, x, 1)' '__shfl_up_sync(~0u, x, 1, 8)' '__shfl_down_sync(~0u, x, 1)' \
    '__shfl_xor_sync(~0u, x, 1, 16)' '__match_any_sync(~0u, x)' '__match_all_sync(~0u, x, &all)'; do
    name=${call%%(*}
    case $name in
    __match*) halves='' numbers='__half __nv_bfloat16' takes='*it takes int, *float and double; *' ;;
    *) halves='__half __half2 __nv_bfloat16 __nv_bfloat162' numbers='' takes='*a shuffle takes int, *__nv_bfloat162; *' ;;
    esac
    for type in pair 'int *' scoped float2 $numbers; do
        refuses "$name of $type" \
            "return nullptr; } $kinds __device__ void f($type x) { int all = 0; (void)all; (void)$call;" \
            "*$name*is unavailable: $takes*"
    done
    accepts "$name of the types that it takes" "$kinds$(
        for type in int unsigned long 'unsigned long' 'long long' 'unsigned long long' float double bool char short \
            'unsigned char' plain number $halves; do
            echo "__device__ int takes($type x, int all) { (void)$call; return all; }"
        done)"
    case $name in
    __shfl*)
        accepts "what $name returns" "$kinds
template <class T> constexpr T value{};
__device__ int all;
template <class T, class Result> constexpr bool returns = std::is_same_v<decltype(${call%%x,*}value<T>,${call#*x,}), Result>;
static_assert(returns<char, int> && returns<bool, int> && returns<number, int> && returns<long, long>);
static_assert(returns<float, float> && returns<__half, __half> && returns<__nv_bfloat162, __nv_bfloat162>);"
        ;;
    esac
done
accepts "a program's own function of an old name" '
__device__ int __shfl_up(int value, int delta) { return __shfl_up_sync(0xffffffff, value, delta); }
template <class T> __device__ T __shfl_xor(T value, int lanes) { return __shfl_xor_sync(0xffffffff, value, lanes); }
__device__ int sum(float f, int n) { return __shfl_up(f, 1u) + __shfl_xor(n, 1u); }'
accepts "a program's own macro of an old name" '
#define __shfl_down(value, delta) __shfl_down_sync(0xffffffff, value, delta)
__device__ int sum(int n) { return n + __shfl_down(n, 16); }'
refuses 'a misspelt barrier' '__syncthread(); return nullptr;' '*did you mean *__syncthreads*'
refuses 'an uninitialised local variable' 'int sum; printf("%d", sum); return nullptr;' '*uninitialized*'
refuses 'a variable of the device with a value from a function' \
    'return nullptr; } int size() { return 4; } __device__ int blocks = size(); void after() {' \
    '*does not have a constant initializer*'
refuses 'a format that does not fit' 'printf("%s", n); return nullptr;' "*format*"
finish
