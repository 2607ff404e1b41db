#!/bin/sh
# Tests the tool that turns kernels and their launches into C++: $REWRITE_LAUNCH or, by default, the build's tool.
. tests/tap.sh
tool=${REWRITE_LAUNCH:-build/cpu/rewrite_launch}
source=$scratch/a.cu

# rewritten TEXT: prints the tool's output without the #line directive and the marks of host functions
rewritten() {
    printf '%s' "$1" >"$source"
    "$tool" "$source" 2>&1 | tail -n +2 | sed 's/ SIMT_FAULT_IF_RUN_BY_KERNEL;//'
}

# host_marks NAME COUNT TEXT: checks that the tool marks COUNT functions of TEXT as host functions
host_marks() {
    printf '%s' "$3" >"$source"
    equal "$1" "$2" "$("$tool" "$source" | grep -o '{ SIMT_FAULT_IF_RUN_BY_KERNEL;' | wc -l)"
}

# becomes NAME TEXT EXPECTED: checks that the tool turns TEXT into EXPECTED
becomes() {
    equal "$1" "$3" "$(rewritten "$2")"
}

# unchanged NAME TEXT: checks that the tool does not change TEXT
unchanged() {
    becomes "$1" "$2" "$2"
}

# refused NAME TEXT LINE REASON: checks that the tool rejects TEXT with the error REASON at LINE
refused() {
    printf '%s' "$2" >"$source"
    message=$("$tool" "$source" 2>&1 >/dev/null)
    equal "$1" "1 $source:$3: $4" "$? $message"
}

# accepted NAME TEXT: checks that the tool does not reject TEXT
accepted() {
    printf '%s' "$2" >"$source"
    equal "$1" "" "$("$tool" "$source" 2>&1 >/dev/null)"
}

no_kernel="before <<< must stand a kernel's name or an expression in parentheses"
no_end='after <<< must follow, in the same statement, its >>> and an argument list'
no_close='the argument list after >>> has no end'
not_dynamic='dynamic shared memory is declared as: extern __shared__ T name[];'
no_stop='a comment or a raw string has no end'

printf 'int a;\n' >"$source"
equal 'the first line names the source' "#line 1 \"$source\"" "$("$tool" "$source" | head -n 1)"
: >"$source"
equal 'an empty file' "#line 1 \"$source\"" "$("$tool" "$source")"

becomes 'two arguments' 'k<<<1, 32>>>(a, b);' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", 1, 32)(a, b);'
becomes 'four arguments' 'k<<<g, b, 8, s>>>();' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", g, b, 8, s)();'
becomes 'template arguments' 'k<float, 4><<<1, 2>>>(a);' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k<float, 4>)), "k<float, 4>", 1, 2)(a);'
becomes 'nested templates' 'k<A<B<int>>><<<1, 2>>>(a);' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k<A<B<int>>>)), "k<A<B<int>>>", 1, 2)(a);'
becomes 'a comparison in template arguments' 'k<(a > b)><<<1, 2>>>(a);' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k<(a > b)>)), "k<(a > b)>", 1, 2)(a);'
becomes 'a shift in template arguments' 'k<1 << 3><<<1, 2>>>(a);' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k<1 << 3>)), "k<1 << 3>", 1, 2)(a);'
becomes 'a string in template arguments' "k<'\"'><<<1, 2>>>(a);" "simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k<'\"'>)), \"k<'\\\"'>\", 1, 2)(a);"
becomes 'scopes' 'a::b<1>::k<2><<<1, 2>>>();' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((a::b<1>::k<2>)), "a::b<1>::k<2>", 1, 2)();'
becomes 'the global scope' 'x = 1; ::k<<<1, 2>>>();' 'x = 1; simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((::k)), "::k", 1, 2)();'
becomes 'an expression' '(k<int>)<<<1, 2>>>();' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER(((k<int>))), "(k<int>)", 1, 2)();'
becomes 'parentheses and braces inside' 'k<<<dim3(f(1), 2), dim3{3, {4}}>>>(a);' \
    'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", dim3(f(1), 2), dim3{3, {4}})(a);'
becomes 'less than inside' 'k<<<a < b ? 1 : 2, n<m>>>(a);' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", a < b ? 1 : 2, n<m)(a);'
becomes 'templates inside' 'k<<<f<g<h<int>>>(3), f<1>()>>>(a);' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", f<g<h<int>>>(3), f<1>())(a);'
becomes 'a template just before the end' 'k<<<1, n<int>>>>(a);' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", 1, n<int>)(a);'
becomes 'a member inside' 'k<<<p->grid, q.block>>>(p->a);' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", p->grid, q.block)(p->a);'
becomes 'an arrow in template arguments' 'k<p->n><<<1, 2>>>(a);' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k<p->n>)), "k<p->n>", 1, 2)(a);'
becomes 'a string over two lines' '(k("a\
b"))<<<1, 2>>>();' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER(((k("a\
b")))), "(k(\"ab\"))", 1, 2)();'
becomes 'a raw string over two lines' '(k(R"(a
b)"))<<<1, 2>>>();' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER(((k(R"(a
b)")))), "(k(R\"(a\nb)\"))", 1, 2)();'
becomes 'two launches in a line' 'j<<<1, 2>>>(a); k<<<3, 4>>>(b);' \
    'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((j)), "j", 1, 2)(a); simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", 3, 4)(b);'
becomes 'brackets in literals inside' 'k<<<f(")"), g('"')'"')>>>("(");' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", f(")"), g('"')'"'))("(");'
becomes 'several lines' 'k<int,
  2>
  <<<1, // grid >>>(
     2 /* block
 */ >>>
  (a,
   b);
end' 'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k<int,
  2>)), "k<int, 2>", 
  1, // grid >>>(
     2 /* block
 */ )
  (a,
   b);
end'
becomes 'a macro over several lines' '#define LAUNCH(T) \
    k<T> \
        <<<1, \
           2>>>(a, \
    b)
k' '#define LAUNCH(T) \
    simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k<T>)), "k<T>",  \
        1, \
           2)(a, \
    b)
k'

unchanged 'a line comment' '// k<<<1, 2>>>(a)
x'
unchanged 'a line comment that goes on' '// so \
k<<<1, 2>>>(a)'
unchanged 'a block comment' '/* k<<<1,
2>>>(a) " */ x'
unchanged 'a string' 'f("k<<<1, 2>>>(a) \" // /*"); x'
unchanged 'characters' "'\"' '\\'' '<'"
unchanged 'a raw string' 'R"x(k<<<1, 2>>>(a) )" " )x" x'
unchanged 'a quote in a string' 'f("\"<<<", "\\");'
becomes 'a macro that only ends like a raw string' 'BAR"(" k<<<1, 2>>>(a)' 'BAR"(" simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", 1, 2)(a)'
becomes 'code after a raw string' 'R"(")" k<<<1, 2>>>(u8R"-(")-")' 'R"(")" simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", 1, 2)(u8R"-(")-")'
becomes 'digit separators' "k<<<1'000, 0x1'f>>>(a);" "simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), \"k\", 1'000, 0x1'f)(a);"
becomes 'one digit separator' "k<<<1'000, 32>>>(a); k<<<1, 2>>>(b);" \
    "simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), \"k\", 1'000, 32)(a); simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), \"k\", 1, 2)(b);"
becomes "an apostrophe in a directive" "#error don't
k<<<1, 2>>>(a);" "#error don't
simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), \"k\", 1, 2)(a);"
unchanged 'templates that close with three brackets' 'a<b<c<int>>> x(1 << 2 >> 1);'

thread='__asm__("simt_dynamic_shared")'
becomes 'dynamic shared memory' 'extern __shared__ float s[];' "extern __thread float s[] $thread;"
becomes 'dynamic shared memory with more dimensions' 'extern __shared__ int s[ ][4] ;' "extern __thread int s[ ][4]  $thread;"
becomes 'aligned after' 'extern __shared__ __align__(16) char s[];' "extern __thread __align__(16) char s[] $thread;"
becomes 'aligned before' 'extern __align__(16) __shared__ char s[];' "extern __align__(16) __thread char s[] $thread;"
becomes 'alignas' 'alignas(16) extern __shared__ char s[];' "alignas(16) extern __thread char s[] $thread;"
becomes 'volatile' 'extern volatile __shared__ int s[];' "extern volatile __thread int s[] $thread;"
becomes 'a type with template arguments' 'extern __shared__ pair<int, f(1)> s[];' "extern __thread pair<int, f(1)> s[] $thread;"
becomes 'over lines' 'extern // mine
  __shared__
  float s[]; int t;' "extern // mine
  __thread
  float s[] $thread; int t;"
becomes 'behind a function' 'void k() { { } } extern __shared__ int s[];' "void k() { { } } extern __thread int s[] $thread;"
becomes 'in a namespace' 'namespace a { namespace b::c { extern __shared__ int s[]; } }' \
    "namespace a { namespace b::c { extern __thread int s[] $thread; } }"
becomes 'in extern "C"' 'extern "C" { void k(); extern __shared__ int s[]; }' \
    "extern \"C\" { void k(); extern __thread int s[] $thread; }"
cast='))simt_dynamic_shared'
becomes 'in a function' 'KERNEL void k() { extern __shared__ int s[]; s[0] = 1; }' "KERNEL void k() {   int *const s = (decltype(+s$cast; s[0] = 1; }"
becomes 'in a function, over lines' 'KERNEL void k()
{ extern // mine
  __shared__
  float s
  []; s[0] = 1; }' "KERNEL void k()
{  // mine
  
  float *const s
   = (decltype(+s$cast; s[0] = 1; }"
becomes 'in a function, with more dimensions' 'KERNEL void k() { extern volatile __shared__ int s[ ][4][5]; }' \
    "KERNEL void k() {  volatile  int (*const s)[4][5] = (decltype(+s$cast; }"
becomes 'in a function, aligned' 'KERNEL void k() { alignas(16) extern __shared__ __align__(8) char s[]; }' \
    "KERNEL void k() { alignas(16)   __align__(8) char *const s = (decltype(+s$cast; }"
becomes 'in a function, in a namespace' 'namespace a { KERNEL void k() { if (x) { y(); } extern __shared__ pair<A, 1> s[]; } }' \
    "namespace a { KERNEL void k() { SIMT_CALLED_FUNCTION; if (x) { SIMT_BASIC_BLOCK; y(); } SIMT_BASIC_BLOCK;   pair<A, 1> *const s = (decltype(+s$cast; } }"
becomes 'in a function with a namespace in its name' 'KERNEL void namespace_k() { extern __shared__ A s[]; }' \
    "KERNEL void namespace_k() {   A *const s = (decltype(+s$cast; }"
for word in my_namespace namespace_ my_extern externs; do
    becomes "in a function of $word" "auto k() -> $word { extern __shared__ A s[]; }" \
        "auto k() -> $word {   A *const s = (decltype(+s$cast; }"
done
becomes 'in a block' 'KERNEL void k() { do { extern __shared__ A s[]; } }' "KERNEL void k() { do {   A *const s = (decltype(+s$cast; } }"
becomes 'a name behind brackets' 'KERNEL void k() { extern __shared__ A<(b > 1)>s[]; }' "KERNEL void k() {   A<(b > 1)>*const s = (decltype(+s$cast; }"
becomes 'in a macro' '#define S extern __shared__ int s[];
x' "#define S extern __thread int s[] $thread;
x"
gap=' SIMT_GAP_AFTER_SHARED_VARIABLE'
becomes 'shared memory with a size' 'extern int e; __shared__ float s[32][33], t; __shared__ int u;' \
    "extern int e; __shared__ float s[32][33], t;$gap __shared__ int u;$gap"
becomes 'shared memory over lines' 'KERNEL void k() { __shared__ // mine
  pair<int, (1 > 0)>
  s[2] ; s[0] = f(); }' "KERNEL void k() { __shared__ // mine
  pair<int, (1 > 0)>
  s[2] ;$gap s[0] = f(); }"
becomes 'shared memory of a struct' '__shared__ struct { int a; float b; } s; int t;' "__shared__ struct { int a; float b; } s;$gap int t;"
becomes 'shared memory in a macro' '#define S __shared__ int s[3]; f(s);
S' "#define S __shared__ int s[3];$gap f(s);
S"
unchanged 'a macro that leaves its ; out' '#define S __shared__ int s[3]
S;'
unchanged 'a qualifier that goes into a macro' 'f(__shared__); x;'
becomes 'names that only look like it' 'extern int my__shared__[]; my_extern __shared__ x[1]; externs __shared__ y[3]; int __shared__s[];' \
    "extern int my__shared__[]; my_extern __shared__ x[1];$gap externs __shared__ y[3];$gap int __shared__s[];"

becomes 'alignas behind __shared__' 'KERNEL void k() { __shared__ alignas(128) int s[2]; }' \
    'KERNEL void k() { __shared__ __align__(128) int s[2]; SIMT_GAP_AFTER_SHARED_VARIABLE }'
becomes 'a function that is not inlined' '__noinline__ KERNEL void k(); __attribute__((__noinline__)) void f();' \
    'SIMT_NOINLINE KERNEL void k(); __attribute__((__noinline__)) void f();'
becomes 'a shared variable that says static' 'KERNEL void k() { static __shared__ int s[2], t; __shared__ static A u; }' \
    "KERNEL void k() {  __shared__ int s[2], t;$gap __shared__  A u;$gap }"
becomes 'a kernel as a void pointer' 'cudaLaunchKernel((void *)k<1>, g, b, a); cudaLaunchKernel( (const void*) &k, g);' \
    'cudaLaunchKernel(k<1>, g, b, a); cudaLaunchKernel(  &k, g);'
becomes 'a kernel as a void pointer in C++' 'cudaLaunchCooperativeKernel(reinterpret_cast<void const *>(k), g, b, a);' \
    'cudaLaunchCooperativeKernel((k), g, b, a);'
becomes 'a kernel as a void pointer behind its configuration' 'cudaLaunchKernelExC(f(&h, 1), (void *)k, a);' \
    'cudaLaunchKernelExC(f(&h, 1), k, a);'
unchanged 'a configuration that is cast' 'cudaLaunchKernelExC((void *)h, k, a); cudaLaunchKernelExC(&h)'
unchanged 'a kernel by its type' 'cudaLaunchKernel(k, g); cudaLaunchKernel((K)k, g); cudaLaunchKernel<int>((void *)k);'
becomes 'headers that are others here' '#include <cooperative_groups/reduce.h>
# include "math_constants.h"
#include <cuda_pipeline_primitives.h>' '#include <cooperative_groups.h>
# include "cuda_runtime.h"
#include <cuda_pipeline.h>'
unchanged 'headers that are here' '#include <mma.h>
#include <cuda_pipeline.h>'
unchanged 'a header that there is none of, under a condition' '#ifdef __CUDA_ARCH__
#include <cublas_v2.h>
#endif'
becomes 'a launch behind a kernel with two beginnings' '#if A
__global__ void k() {
#else
__global__ void k(int) {
#endif
} void f() { k<<<1, 2>>>(); }' '#if A
__global__ void k() { SIMT_BASIC_BLOCK;
#else
__global__ void k(int) { SIMT_BASIC_BLOCK;
#endif
} void f() { simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", 1, 2)(); }'
becomes 'a launch from both sides' '__host__ __device__ void f() { k<<<1, 2>>>(); }' \
    '__host__ __device__ void f() { simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", 1, 2)(); }'
refused 'a launch in a kernel' '__global__ void k(int *a) { if (a) {
k<<<1, 2>>>(a); } }' 2 'a kernel cannot launch kernels on the simulator: launch this one from the host, afterwards'
local_map='a bulk copy cannot read a tensor map in a local variable: use the kernel'"'"'s parameter'
no_constant="a kernel's tensor map must be a const __grid_constant__ parameter"
refused 'a tensor map in a local variable' '__global__ void k(int a) { int b;
const tensor_map map = f(); }' 2 "$local_map"
refused 'a tensor map in a local variable of a device function' '__device__ void f() { tensor_map const map = g(); }' 1 "$local_map"
refused 'a tensor map as a parameter without __grid_constant__' '__global__ void k(const __grid_constant__ tensor_map map,
const tensor_map other);' 2 "$no_constant"
refused 'a tensor map before another parameter' 'template <int N> __global__ __launch_bounds__(32)
void k(tensor_map map, int a) { }' 2 "$no_constant"
unchanged 'tensor maps in right places' 'struct a { tensor_map map; }; void f(tensor_map map) { tensor_map other; }
__global__ void k(const __grid_constant__ tensor_map map, tensor_map const __grid_constant__ other, tensor_map *third);'
becomes 'tensor maps that a device function may declare' \
    '__device__ void f(const tensor_map &map) { const tensor_map *p = &map; __shared__ tensor_map shared; sizeof(tensor_map); }' \
    '__device__ void f(const tensor_map &map) { const tensor_map *p = &map; __shared__ tensor_map shared; SIMT_GAP_AFTER_SHARED_VARIABLE sizeof(tensor_map); }'
becomes 'small local arrays' \
    '__device__ void f(int n[2]) { struct s { char c[4]; }; const unsigned char a[4] = {1}, b[3]; float w[2]; float v[4], m[2][2]; half h[n]; }' \
    '__device__ void f(int n[2]) { SIMT_CALLED_FUNCTION; struct s { char c[4]; }; const unsigned SIMT_NVCC_SMALL_ARRAY_ALIGNMENT char a[4] = {1}, b[3]; SIMT_NVCC_SMALL_ARRAY_ALIGNMENT float w[2]; float v[4], m[2][2]; half h[n]; }'
unchanged 'small arrays elsewhere' 'struct s { char c[4]; }; short g[2]; __device__ void f(int n[2]);'
ignored='the result of mbarrier_try_wait() is ignored, and is false if the phase has not ended: repeat the call until it is true, or call mbarrier_wait()'
for before in 'a;' 'if (a < (b))' 'else' '(void)' 'if (a) b(); else' 'do' '{ }' 'for (;;)'; do
    refused "an ignored wait after $before" "__global__ void k() { a
$before
mbarrier_try_wait(&full, 0); }" 3 "$ignored"
done
for before in 'while (!' 'a =' 'return' 'a &&' 'b = (bool)' 'f('; do
    becomes "a wait after $before" "bool f() { $before mbarrier_try_wait(&full, 0) }" "bool f() { $before mbarrier_try_wait(&full, 0) }"
done
refused 'a header that there is none of' 'int a;
#include <thrust/sort.h>' 2 'thrust/sort.h is not supported by the simulator: write a kernel'
refused 'a header whose name does not end in its line' '#include <thrust/
sort.h>' 1 'thrust/ is not supported by the simulator: write a kernel'
unchanged 'a directive that ends with the file' '#i'
unchanged 'a call that ends with the file' 'f(cudaLaunchKernel'
becomes 'a variable in two memories, not declared to its end' 'static __constant__ __shared__ int a[' \
    'static __constant__ __shared__ int a['
becomes 'launch bounds' '__global__ void __launch_bounds__(f(2), // two
  1) k(int (*a)[2]) { a[0] = 1; }' '__global__ void __launch_bounds__(f(2), // two
  1) k(int (*a)[2]) { SIMT_BASIC_BLOCK; SIMT_LAUNCH_BOUNDS(f(2),          1) a[simt_checked_index_within_array<__typeof__(a)>() |= 0] = 1; }'
becomes 'launch bounds with a string over two lines' '__launch_bounds__(f("a\
b")) void k() { }' '__launch_bounds__(f("a\
b")) void k() { SIMT_LAUNCH_BOUNDS(f("ab")) }'
unchanged 'launch bounds of a declaration' '__launch_bounds__(2) __global__ void k(int *a); void f() { }'

refused 'no name' 'x = <<<1, 2>>>(a);' 1 "$no_kernel"
becomes 'a member' 'x = 1; p->k<<<1, 2>>>(a);' 'x = 1; simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((p->k)), "p->k", 1, 2)(a);'
becomes 'members and elements' '(*p).q[i + 1].k<<<1, 2>>>(a);' \
    'simt_launch(SIMT_KERNEL_FINDER_AND_CALLER(((*p).q[i + 1].k)), "(*p).q[i + 1].k", 1, 2)(a);'
becomes 'an element' 'x[0] = 1; a::kernels [i]<<<1, 2>>>(a);' \
    'x[0] = 1; simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((a::kernels [i])), "a::kernels [i]", 1, 2)(a);'
refused 'a member of a call' 'f(x).k<<<1, 2>>>(a);' 1 "$no_kernel"
# This test would not finish in a reasonable time if the text after each template were scanned twice.
templates=$(awk 'BEGIN { for (i = 0; i < 200; i++) printf "a<b> + " }')
refused 'no end behind many templates' "k<<<$templates 1;" 1 "$no_end"
becomes 'many templates' "k<<<${templates}1, 2>>>(a);" "simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), \"k\", ${templates}1, 2)(a);"
refused 'a launch in a launch' 'k<<<1, j<<<1, 2>>>(a)>>>(b);' 1 "$no_end"
refused 'a launch of a launch' '(k<<<1, 2>>>(a))<<<1, 2>>>(b);' 1 "$no_kernel"
refused 'a call' 'f(x)<<<1, 2>>>(a);' 1 "$no_kernel"
refused 'template arguments that do not open' '
;k><<<1, 2>>>(a);' 2 "$no_kernel"
refused 'no end' '/*

*/ k<<<1, 2' 3 "$no_end"
refused 'no end in the statement' 'k<<<1, 2; j<<<1, 2>>>(a);' 1 "$no_end"
refused 'no argument list' 'k<<<1, 2>>>;' 1 "$no_end"
refused 'an open parenthesis inside' 'k<<<(1, 2>>>(a);' 1 "$no_end"
refused 'a stray parenthesis inside' 'k<<<1), 2>>>(a);' 1 "$no_end"
refused 'an argument list without an end' 'k<<<1, 2>>>((a);' 1 "$no_close"
refused 'an argument list outside its macro' '#define K k<<<1, 2>>>
(a)' 1 "$no_end"
refused 'a directive in the middle' 'k<<<1,
#if 1
2
#endif
>>>(a);' 1 "$no_end"
refused 'an endless comment' 'x
/* k' 2 "$no_stop"
no_brace='this { is never closed'
no_comment='this comment contains another /*: is its own */ missing?'
refused 'a brace that is not closed' 'int a;
__device__ int f() { if (a) { return 1;
}
__global__ void k() { f(); }' 2 "$no_brace"
refused 'a brace that is not closed: the outermost' 'struct a { int b; };
int f()
{ { { }' 3 "$no_brace"
refused 'a comment that goes on to the end of the next one' 'void f() { a(); /* b
}
/* c */
__global__ void k() { }' 1 "$no_comment"
unchanged 'braces of one branch only' 'namespace a {
#if A
namespace b {
#endif
int c;
#if A
  }
}
#else
}
#endif'
unchanged 'braces of macros' '#define BEGIN void f() {
#define END }
BEGIN END
void f() { END'
refused 'a brace that is not closed, after a macro with braces' '#define A { }
void f() {' 2 "$no_brace"
unchanged 'braces in a comment and a string' '/* { */ const char *a = "{";'
refused 'an endless raw string' 'x = R"a(b)";' 1 "$no_stop"
refused 'a raw string with too long a delimiter' 'R"12345678901234567(x)12345678901234567"' 1 "$no_stop"
refused 'dynamic shared memory with a size' '
extern __shared__ int s[3];' 2 "$not_dynamic"
refused 'no extern' '__shared__ int s[];' 1 "$not_dynamic"
refused 'extern too late' '__shared__ extern int s[];' 1 "$not_dynamic"
refused 'no name' 'extern __shared__ [];' 1 'dynamic shared memory needs a name: extern __shared__ T name[];'
refused 'two arrays at once' 'extern __shared__ int s[], t[];' 1 "$not_dynamic"
refused 'a macro that stops short' '#define S extern __shared__
S int s[];' 1 "$not_dynamic"

# in_device NAME CODE EXPECTED: checks that the tool turns CODE into EXPECTED in a device function and leaves it
# unchanged in a host function. Both functions are constexpr, so they have no marks.
in_device() {
    becomes "$1" "constexpr __device__ int f() { if (x) { $2 } }" "constexpr __device__ int f() { if (x) { $3 } }"
    unchanged "$1, on the host" "constexpr __host__ int f() { if (x) { $2 } } __device__ int g();"
}

# marks NAME CODE EXPECTED: checks that the tool turns the body CODE of a device function into EXPECTED, with its marks
marks() {
    becomes "$1" "__device__ int f() { $2 }" "__device__ int f() { SIMT_CALLED_FUNCTION; $3 }"
}

unchanged 'a function without blocks' '__device__ int f(int x) { int y = x; g(x ? 1 : x + 2); return p[y] & 1; }'
marks 'an array' 'volatile char a[N]; return g(a);' 'volatile char a[N]; return g(a);'
marks 'an array of a template' 'A<2> a[3][4];' 'A<2> a[3][4];'
becomes 'a kernel' '__global__ void k() { }' '__global__ void k() { SIMT_BASIC_BLOCK; }'
becomes 'a kernel with launch bounds' '__launch_bounds__(32) __global__ void k() { }' \
    '__launch_bounds__(32) __global__ void k() { SIMT_BASIC_BLOCK; SIMT_LAUNCH_BOUNDS(32) }'
becomes 'a value of the device' '__device__ const int a[] = {1 && 2, 3};' 'SIMT_CONST_DEVICE_VARIABLE const int a[] = {1 && 2, 3}; SIMT_GAP_AFTER_CONST_DEVICE_VARIABLE'
becomes 'a function of a macro in a namespace' 'namespace a { DEVICE(f) { if (b) c; d; } }' \
    'namespace a { DEVICE(f) { SIMT_CALLED_FUNCTION; if (b) { SIMT_BASIC_BLOCK; c; } SIMT_BASIC_BLOCK; d; } }'
unchanged 'a structure' 'struct a { int b = c && d; int f() { return b || c; } };'
marks 'a side' 'if (a) b; c;' 'if (a) { SIMT_BASIC_BLOCK; b; } SIMT_BASIC_BLOCK; c;'
marks 'a side in braces' 'if (a) { b; } c;' 'if (a) { SIMT_BASIC_BLOCK; b; } SIMT_BASIC_BLOCK; c;'
marks 'an if that comes last' 'if (a) b;' 'if (a) { SIMT_BASIC_BLOCK; b; }'
marks 'two sides' 'if (a) b; else c; d;' 'if (a) { SIMT_BASIC_BLOCK; b; } else { SIMT_BASIC_BLOCK; c; } SIMT_BASIC_BLOCK; d;'
marks 'three sides' 'if (a) b; else if (c) d; else { e; } f;' \
    'if (a) { SIMT_BASIC_BLOCK; b; } else { SIMT_BASIC_BLOCK; if (c) { SIMT_BASIC_BLOCK; d; } else { SIMT_BASIC_BLOCK; e; } } SIMT_BASIC_BLOCK; f;'
marks 'whose else it is' 'if (a) if (b) c; else d; e;' \
    'if (a) { SIMT_BASIC_BLOCK; if (b) { SIMT_BASIC_BLOCK; c; } else { SIMT_BASIC_BLOCK; d; } } SIMT_BASIC_BLOCK; e;'
marks 'a loop' 'for (int i = 0; i < n; i++) a; b;' 'for (int i = 0; i < n; i++) { SIMT_LOOP_ITERATION; a; } SIMT_BASIC_BLOCK; b;'
marks 'an empty loop' 'while (a());' 'while (a()) { SIMT_LOOP_ITERATION;; }'
marks 'a loop with its condition at the end' 'do a; while (b); c;' 'do { SIMT_LOOP_ITERATION; a; } while (b); SIMT_BASIC_BLOCK; c;'
marks 'lanes come together before the next turn' 'while (a) { if (b) c; }' \
    'while (a) { SIMT_LOOP_ITERATION; if (b) { SIMT_BASIC_BLOCK; c; }  SIMT_BASIC_BLOCK;}'
marks 'a loop in a loop' 'while (a) for (;;) b;' 'while (a) { SIMT_LOOP_ITERATION; for (;;) { SIMT_LOOP_ITERATION; b; } SIMT_BASIC_BLOCK; }'
marks 'a block of its own' '{ if (a) b; } c;' '{ if (a) { SIMT_BASIC_BLOCK; b; } } SIMT_BASIC_BLOCK; c;'
marks 'a switch' 'switch (a) { case 1: case f(2): b; break; case c::d: default: e; } g;' \
    'switch (a) { case 1: case f(2): SIMT_BASIC_BLOCK; b; break; case c::d: default: SIMT_BASIC_BLOCK; e; } SIMT_BASIC_BLOCK; g;'
marks 'a label' 'if (a) goto b; c; b: d;' 'if (a) { SIMT_BASIC_BLOCK; goto b; } SIMT_BASIC_BLOCK; c; b: SIMT_BASIC_BLOCK; d;'
marks 'and' 'x = a && b; c;' 'x = a && SIMT_AND_OPERAND && b; SIMT_BASIC_BLOCK; c;'
marks 'or' 'f(a || (b && c)); d;' \
    'f( SIMT_RECONVERGE_EXPRESSION_BEGIN a || SIMT_OR_OPERAND || ( SIMT_RECONVERGE_EXPRESSION_BEGIN b && SIMT_AND_OPERAND && c SIMT_RECONVERGE_EXPRESSION_END) SIMT_RECONVERGE_EXPRESSION_END); SIMT_BASIC_BLOCK; d;'
marks 'a condition with and' 'while (a && b) c;' 'while (a && SIMT_AND_OPERAND && b) { SIMT_LOOP_ITERATION; c; }'
marks 'what is returned' 'return a && b;' 'return a && SIMT_AND_OPERAND && b;'
marks 'a side that calls' 'x = a ? f() : -1; b;' 'x = a ?(SIMT_CONDITIONAL_OPERAND,  f() ): -1; SIMT_BASIC_BLOCK; b;'
marks 'sides that touch memory' 'x = a ? b[i] : *p; y = c ? d->e : f<3>(g); h;' \
    'x = a ?(SIMT_CONDITIONAL_OPERAND,  b[i] ):(SIMT_CONDITIONAL_OPERAND,  *p); SIMT_BASIC_BLOCK; y = c ?(SIMT_CONDITIONAL_OPERAND,  d->e ):(SIMT_CONDITIONAL_OPERAND,  f<3>(g)); SIMT_BASIC_BLOCK; h;'
marks 'a choice in a choice' 'x = a ? b ? 1 : 2 : c ? d() : 4; e;' \
    'x = a ? b ? 1 : 2 :(SIMT_CONDITIONAL_OPERAND,  c ?(SIMT_CONDITIONAL_OPERAND,  d() ): 4); SIMT_BASIC_BLOCK; e;'
unchanged 'selects' '__device__ int f() { x = a ? b * -c : d.e; y = f(a ? 1.0f : float(b), (c < d) ? 2 : 3); z = a ? (float)b : 0; }'
# Lanes that diverge within a statement reconverge before the rest of the statement is executed.
marks 'arguments' 'f(a && b, c, d ? e[0] : 1); g;' \
    'f( SIMT_RECONVERGE_EXPRESSION_BEGIN a && SIMT_AND_OPERAND && b SIMT_RECONVERGE_EXPRESSION_END, c, SIMT_RECONVERGE_EXPRESSION_BEGIN  d ?(SIMT_CONDITIONAL_OPERAND,  e[0] ): 1 SIMT_RECONVERGE_EXPRESSION_END); SIMT_BASIC_BLOCK; g;'
marks 'parentheses' 'a = (b || c) + d;' 'a = ( SIMT_RECONVERGE_EXPRESSION_BEGIN b || SIMT_OR_OPERAND || c SIMT_RECONVERGE_EXPRESSION_END) + d;'
marks 'parentheses around a whole value' 'return ((a ? b() : c()));' 'return ((a ?(SIMT_CONDITIONAL_OPERAND,  b() ):(SIMT_CONDITIONAL_OPERAND,  c())));'
marks 'parentheses around a side' 'f(a ? (b && c) : 0);' 'f( SIMT_RECONVERGE_EXPRESSION_BEGIN a ?(SIMT_CONDITIONAL_OPERAND,  (b && SIMT_AND_OPERAND && c) ): 0 SIMT_RECONVERGE_EXPRESSION_END);'
marks 'what is assigned to' '(a ? *b : c) = d;' '( SIMT_RECONVERGE_EXPRESSION_BEGIN a ?(SIMT_CONDITIONAL_OPERAND,  *b ): c SIMT_RECONVERGE_EXPRESSION_END) = d;'
marks 'what is evaluated before its destination' 'a[f()] = b && c; d[0] += b && c;' \
    'a[f()] = SIMT_RECONVERGE_EXPRESSION_BEGIN  b && SIMT_AND_OPERAND && c SIMT_RECONVERGE_EXPRESSION_END; SIMT_BASIC_BLOCK; d[0] += b && SIMT_AND_OPERAND && c;'
marks 'values in a row' 'bool a = b && c, d = a; e;' \
    'bool a = SIMT_RECONVERGE_EXPRESSION_BEGIN  b && SIMT_AND_OPERAND && c SIMT_RECONVERGE_EXPRESSION_END, d = a; SIMT_BASIC_BLOCK; e;'
marks 'commas in a side' 'f(a ? b && c, d : e);' \
    'f( SIMT_RECONVERGE_EXPRESSION_BEGIN a ?(SIMT_CONDITIONAL_OPERAND,  SIMT_RECONVERGE_EXPRESSION_BEGIN  b && SIMT_AND_OPERAND && c SIMT_RECONVERGE_EXPRESSION_END, d ): e SIMT_RECONVERGE_EXPRESSION_END);'
marks 'a list' 'T a{.b = c && d, e == f || g, h >= i && j};' \
    'T a{.b = SIMT_RECONVERGE_EXPRESSION_BEGIN  c && SIMT_AND_OPERAND && d SIMT_RECONVERGE_EXPRESSION_END, SIMT_RECONVERGE_EXPRESSION_BEGIN  e == f || SIMT_OR_OPERAND || g SIMT_RECONVERGE_EXPRESSION_END, SIMT_RECONVERGE_EXPRESSION_BEGIN  h >= i && SIMT_AND_OPERAND && j SIMT_RECONVERGE_EXPRESSION_END};'
marks 'the lines of a for' 'for (a = b && c; d || e; f ? g() : h()) i;' \
    'for (a = SIMT_RECONVERGE_EXPRESSION_BEGIN  b && SIMT_AND_OPERAND && c SIMT_RECONVERGE_EXPRESSION_END; SIMT_RECONVERGE_EXPRESSION_BEGIN  d || SIMT_OR_OPERAND || e SIMT_RECONVERGE_EXPRESSION_END; SIMT_RECONVERGE_EXPRESSION_BEGIN  f ?(SIMT_CONDITIONAL_OPERAND,  g() ):(SIMT_CONDITIONAL_OPERAND,  h()) SIMT_RECONVERGE_EXPRESSION_END) { SIMT_LOOP_ITERATION; i; }'
marks 'a loop through a choice' 'for (auto a : b ? c[0] : d) e;' \
    'for (auto a : SIMT_RECONVERGE_EXPRESSION_BEGIN  b ?(SIMT_CONDITIONAL_OPERAND,  c[0] ): d SIMT_RECONVERGE_EXPRESSION_END) { SIMT_LOOP_ITERATION; e; }'
marks 'template arguments' 'f(is<a, b>() && c, g<d, e<1>>(h) ? i[0] : 1);' \
    'f( SIMT_RECONVERGE_EXPRESSION_BEGIN is<a, b>() && SIMT_AND_OPERAND && c SIMT_RECONVERGE_EXPRESSION_END, SIMT_RECONVERGE_EXPRESSION_BEGIN  g<d, e<1>>(h) ?(SIMT_CONDITIONAL_OPERAND,  i[0] ): 1 SIMT_RECONVERGE_EXPRESSION_END);'
marks 'comparisons' 'f(a < b && c, d > e); g(a<b && c>d); h(a<b, c>d || e);' \
    'f( SIMT_RECONVERGE_EXPRESSION_BEGIN a < b && SIMT_AND_OPERAND && c SIMT_RECONVERGE_EXPRESSION_END, d > e); SIMT_BASIC_BLOCK; g( SIMT_RECONVERGE_EXPRESSION_BEGIN a<b && SIMT_AND_OPERAND && c>d SIMT_RECONVERGE_EXPRESSION_END); SIMT_BASIC_BLOCK; h(a<b, SIMT_RECONVERGE_EXPRESSION_BEGIN  c>d || SIMT_OR_OPERAND || e SIMT_RECONVERGE_EXPRESSION_END);'
marks 'comparisons that may be template arguments' 'T<a && b, c> d, e; f(g<a && b, c>(d), e && h);' \
    'T<a && SIMT_AND_OPERAND && b, c> d, e; SIMT_BASIC_BLOCK; f(g<a && SIMT_AND_OPERAND && b, c>(d), SIMT_RECONVERGE_EXPRESSION_BEGIN  e && SIMT_AND_OPERAND && h SIMT_RECONVERGE_EXPRESSION_END);'
marks 'a second side with template arguments' 'f(a ? g() : b[0] + h<c, d>(e), i || j);' \
    'f(a ?(SIMT_CONDITIONAL_OPERAND,  g() ): b[0] + h<c, d>(e), SIMT_RECONVERGE_EXPRESSION_BEGIN  i || SIMT_OR_OPERAND || j SIMT_RECONVERGE_EXPRESSION_END);'
marks 'an argument that an #if divides' 'f(a && b,
#ifdef C
c && d,
#endif
e || f);' 'f( SIMT_RECONVERGE_EXPRESSION_BEGIN a && SIMT_AND_OPERAND && b SIMT_RECONVERGE_EXPRESSION_END,
#ifdef C
c && SIMT_AND_OPERAND && d,
#endif
e || SIMT_OR_OPERAND || f);'
marks 'a function without a name' 'g([&](int x) { return x || y; }); auto h = [=] { if (a) b; }; c;' \
    'g([&](int x) { SIMT_CALLED_FUNCTION; return x || SIMT_OR_OPERAND || y; }); auto h = [=] { SIMT_CALLED_FUNCTION; if (a) { SIMT_BASIC_BLOCK; b; } }; c;'
unchanged 'what the compiler computes' '__device__ int f() { constexpr bool a = b && c; static_assert(a || d, "e"); sizeof(a && b); assert(a && b); if constexpr (a && b) c; else d; e; }'
unchanged 'references' '__device__ int f() { auto &&a = b; g([](T &&x, U &&) { }); const auto &&c = d; }'
unchanged 'a constexpr function' 'constexpr __device__ int f(int a) { if (a) return 1; return 2; }'
marks 'directives between statements' 'a;
#pragma unroll
for (;;) b;
#ifdef C
if (c) d;
#else
if (e) f;
#endif
g;' 'a;
#pragma unroll
for (;;) { SIMT_LOOP_ITERATION; b; } SIMT_BASIC_BLOCK;
#ifdef C
if (c) { SIMT_BASIC_BLOCK; d; } SIMT_BASIC_BLOCK;
#else
if (e) { SIMT_BASIC_BLOCK; f; } SIMT_BASIC_BLOCK;
#endif
g;'
unchanged 'a directive in a statement' '__device__ int f() { if (a)
#ifdef B
    b;
#else
    c;
#endif
}
__device__ int g() { d; }'
unchanged 'braces that an #if divides' '__device__ int f() {
#if A
if (a) {
#else
if (b) {
#endif
c; } }'
marks 'attributes' 'switch (a) { case 1: b; [[fallthrough]]; case 2: c; }' \
    'switch (a) { case 1: SIMT_BASIC_BLOCK; b; [[fallthrough]]; case 2: SIMT_BASIC_BLOCK; c; }'

in_device 'fold expressions' '(a && ...); (... || a); ((int)a + ... + 0); (a << ...);' \
    '(a && ...); (... || a); ((int)a + ... + 0); (a << ...);'
in_device 'an index that is no number' 'int a[4]; a[{1, 2}];' 'int a[4]; a[{1, 2}];'
in_device 'an index after a comma' 'int a[4]; a[f(1, 2), i]; a[f<1, 2>(i)];' \
    'int a[4]; a[f(1, 2),simt_checked_index_within_array<__typeof__(a)>() |=  i]; a[simt_checked_index_within_array<__typeof__(a)>() |= f<1, 2>(i)];'
becomes 'arguments that a macro quotes' '#define CHECK(x) \
    f(x, #x)
#define BOTH(a, b) a##b
__global__ void k(int *a) { CHECK(a[0] << b && (int)c); BOTH(d, << e); }
void f() { CHECK(a && b); CHECK((k<<<1, 2>>>(a))); }' '#define CHECK(x) \
    f(x, #x)
#define BOTH(a, b) a##b
__global__ void k(int *a) { SIMT_BASIC_BLOCK; CHECK(a[0] << b && (int)c); BOTH(d, << e); }
void f() { CHECK(a && b); CHECK((simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", 1, 2)(a))); }'
in_device 'a shift' 'a << b; a>>b * 2;' 'a << simt_shift_count * b; a>> simt_shift_count *b * 2;'
in_device 'shifts in a row' '(a) << b << c[i];' '(a) << simt_shift_count * b << simt_shift_count * c[i];'
in_device 'a shift by a number' 'a << 3; a >> 0x1f; a << 3 + b;' 'a << 3; a >> 0x1f; a << simt_shift_count * 3 + b;'
in_device 'a compound shift' 'a <<= b; a >>= c[i + 1];' 'a <<= simt_shift_count * b; a >>= simt_shift_count * c[i + 1];'
in_device 'a compound shift of what may be a bit field' 's.a <<= b; p->a >>= b;' 's.a <<= b; p->a >>= b;'
in_device 'a compound shift by an expression' 'a <<= b | c; a >>= b ? 1 : 2;' 'a <<= b | c; a >>= b ? 1 : 2;'
in_device 'an element' 'int a[4]; a[i] = b[a[0] + 1];' \
    'int a[4]; a[simt_checked_index_within_array<__typeof__(a)>() |= i] = b[a[simt_checked_index_within_array<__typeof__(a)>() |= 0] + 1];'
in_device 'a row' 'int a[4][5]; f(a[i][j]);' \
    'int a[4][5]; f(a[simt_checked_index_within_array<__typeof__(a)>() |= i][simt_checked_index_within_array<__typeof__(a[i])>() |= j]);'
in_device 'a member' 'a.b[i]; p->c[1].d[j]; ++this->e[i];' \
    'a.b[simt_checked_index_within_array<__typeof__(a.b)>() |= i]; p->c[simt_checked_index_within_array<__typeof__(p->c)>() |= 1].d[simt_checked_index_within_array<__typeof__(p->c[1].d)>() |= j]; ++this->e[simt_checked_index_within_array<__typeof__(this->e)>() |= i];'
in_device 'an address' 'int a[4]; p = &a[i]; x & a[i]; x && a[i]; f(y, &a[i]);' \
    'int a[4]; p = &a[simt_checked_index_within_array_or_end<__typeof__(a)>() |= i]; x & a[i]; x && a[simt_checked_index_within_array<__typeof__(a)>() |= i]; f(y, &a[simt_checked_index_within_array_or_end<__typeof__(a)>() |= i]);'
in_device 'one name in two places' 'int a[4], b[5]; { float c = 1, a[3]; T *b[4], d = 2; A<3> a[9]; c = a[1], d = b[2] * a[0]; return a[1]; }' \
    'int a[4], b[5]; { float c = 1, a[3]; T *b[4], d = 2; A<3> a[9]; c = a[simt_checked_index_within_array<__typeof__(a)>() |= 1], d = b[simt_checked_index_within_array<__typeof__(b)>() |= 2] * a[simt_checked_index_within_array<__typeof__(a)>() |= 0]; return a[simt_checked_index_within_array<__typeof__(a)>() |= 1]; }'
in_device 'what may declare or use' 'int a[4], b[4]; c * a[1]; if (c) a[1] = 2; for (;; b[1]++) d = c < 3 ? a[2] : b[3];' \
    'int a[4], b[4]; c * a[1]; if (c) a[simt_checked_index_within_array<__typeof__(a)>() |= 1] = 2; for (;; b[simt_checked_index_within_array<__typeof__(b)>() |= 1]++) d = c < 3 ? a[simt_checked_index_within_array<__typeof__(a)>() |= 2] : b[simt_checked_index_within_array<__typeof__(b)>() |= 3];'
in_device 'brackets of other kinds' 'auto [a, b] = c; const auto [d, e] = c; auto [g, h] = c; [=] { }; delete[] a; x.operator[](i); new int[4]; f(a)[i]; p[i]; int (*q[2])(int); int (S::*r[2])(); T (*t[2])[3]; T (&u)[2] = v; int w, (*z[2])[3];' \
    'auto [a, b] = c; const auto [d, e] = c; auto [g, h] = c; [=] { }; delete[] a; x.operator[](i); new int[4]; f(a)[i]; p[i]; int (*q[2])(int); int (S::*r[2])(); T (*t[2])[3]; T (&u)[2] = v; int w, (*z[2])[3];'
in_device 'operands that are no names' 's::t[i]; p[i].v[j]; (*p).v[i]; (c ? a : b)[i]; f(x, y).v[i];' \
    's::t[simt_checked_index_within_array<__typeof__(s::t)>() |= i]; p[i].v[simt_checked_index_within_array<__typeof__(p[i].v)>() |= j]; (*p).v[simt_checked_index_within_array<__typeof__((*p).v)>() |= i]; (c ? a : b)[simt_checked_index_within_array<__typeof__((c ? a : b))>() |= i]; f(x, y).v[simt_checked_index_within_array<__typeof__(f(x, y).v)>() |= i];'
becomes 'an array by reference' 'template <int N> __device__ int f(T (&a)[N], U *b) { return a[1] + b[2]; }' \
    'template <int N> __device__ int f(T (&a)[N], U *b) { return a[simt_checked_index_within_array<__typeof__(a)>() |= 1] + b[2]; }'
becomes 'a member in a method' 'struct s { __device__ int f() { return a[i] + p[i]; } int a[4], *p; };' \
    'struct s { __device__ int f() { return a[simt_checked_index_within_array<__typeof__(a)>() |= i] + p[i]; } int a[4], *p; };'
becomes 'an array of the file' '__device__ int a[2][4]; __device__ int f() { return a[i][j]; }' \
    'SIMT_DEVICE_VARIABLE int a[2][4]; SIMT_GAP_AFTER_DEVICE_VARIABLE __device__ int f() { return a[simt_checked_index_within_array<__typeof__(a)>() |= i][simt_checked_index_within_array<__typeof__(a[i])>() |= j]; }'
refused 'a kernel that returns a value' 'static int __global__ f(int *x) { return 1; }' 1 \
    'a kernel returns void: it may store a result in memory that the host reads'
unchanged 'a kernel whose parameters have types' '__global__ void f(int x);'
refused 'a kernel of a class' 'struct S { int a;
static __global__ void k(); };' 2 'a kernel cannot be a member of a class: declare it outside, for example as a template'
unchanged 'a friend of a class' 'struct S { friend __global__ void k(S); };'
refused 'a __grid_constant__ parameter that can be changed' '__global__ void k(const int a,
__grid_constant__ S s, const T t) { }' 2 'a __grid_constant__ parameter must be const'
unchanged 'const before and after __grid_constant__' \
    '__global__ void k(const A<int, 3> __grid_constant__ a, __grid_constant__ const B b);'
of_host='calling a __device__ function("f") from a __host__ function is not allowed: declare it __host__ __device__'
refused 'a device function called by the host' '__device__ int f(int);
int main() { return f(1); }' 2 "$of_host"
refused 'a device template called by the host' 'template <class T> __device__ T *f(T);
static void g() { int *a = f<int>(1); }' 2 "$of_host"
refused 'a kernel without <<<>>>' '__global__ void k(int); int main() {
k(1); }' 2 'a __global__ function call must be configured: k<<<blocks, threads>>>(...)'
refused 'the size of a block on the host' '__global__ void k(int *a) { SIMT(*a = blockDim.x); }
int main() { return blockDim . x; }' 2 \
    'blockDim exists in kernels and __device__ functions only; on the host, use the size given in <<<>>>'
no_global='k is launched by <<<>>>, but has no __global__: declare it as __global__ void k(...)'
refused 'a kernel without __global__ that uses threadIdx' '
static void k(int *x)
{
    if (x) { x[threadIdx.x] = 1; }
}
void f(int *x) { k<<<1, 32>>>(x); }' 2 "$no_global"
refused 'a kernel without __global__' 'void k(int *x) { *x = 1; }
void f(int *x) { k<<<1, 32>>>(x); }' 1 "$no_global"
refused 'a kernel template without __global__' 'template <class T> void k(T *x) { *x = 1; }
void f(int *x) { k<int><<<1, 32>>>(x); }' 1 "$no_global"
refused 'one argument too few' '__global__ void k(float *x, float y) { }
void f(float *x) {
k<<<1, 32>>>(x); }' 3 'k has 2 parameters, but the launch passes 1 argument'
refused 'one argument too many' 'template <int N> __global__ void k(A<N, 2> x, int *y = 0) { }
void f(int *x) { k<2><<<1, 32>>>(a, x, g(1, 2)); }' 2 'k has 2 parameters, but the launch passes 3 arguments'
refused 'an argument for a kernel without parameters' '__global__ void k(void) { }
void f(int *x) { k<<<1, 32>>>(x); }' 2 'k has 0 parameters, but the launch passes 1 argument'
for text in '__global__ void k(int x, int y = 1);' '__global__ void k(int x); __global__ void k(int x, int y);' \
    'template <class... T> __global__ void k(T... x);' '__global__ void k(PARAMETERS);' 'KERNEL void k(int x);' \
    'void g(void (*k)(int, int)) { k<<<1, 1>>>(x); }'; do
    accepted "the numbers of arguments: $text" "$text void f(int x) { k<<<1, 1>>>(x); }"
done
accepted 'a host function around a launch of the same name' 'static void k(int x, int y) { k<<<1, 1>>>(x); }'
for list in 'a < b, c > d' 'ARGUMENTS' 'x...' 'f<1, 2>(3), 4'; do
    accepted "arguments that may be more or fewer: $list" "__global__ void k(int, int); void f() { k<<<1, 1>>>($list); }"
done
for text in '__device__ int f(int); int f(float); int main() { return f(1); }' \
    '__host__ __device__ int f(int); int main() { return f(1); }' \
    '__device__ int f(int); int main() { return a.f(1) + b->f(1) + c::f(1) + sizeof(f(1)) + f; }' \
    '__device__ int min(int); int main() { return min(1); }' \
    '__device__ int f(const int (*a)[4]); int main() { int (*a)[4]; return int(1.5); }' \
    '__device__ int f(int); int g(int (*f)(int)) { return f(1); }' \
    '__device__ int f(int); int main() { auto f = g; return f(1); }' \
    'int main() { dim3 blockDim(1), gridDim; return blockDim.x + gridDim.x; }'; do
    unchanged "the host's: $text" "$text"
done
refused 'a device function called by the host in an expression' '__device__ int f(int);
int main() { return 2 * a[1] * f(1) + 3; }' 2 "$of_host"
for text in '__device__ int f(int); int main() { return f(1, 2); }' \
    'struct s { __device__ int f(int); }; int main() { return f(1); }' \
    '__device__ int time(int); int main() { return time(0); }' \
    '__global__ void f(int); __device__ void f(float); __device__ void g() { f(1.5f); }' \
    'struct s { __device__ s f(float); __device__ s g() { return f(2); } }; __global__ void f(int *);'; do
    accepted "another function of the name: $text" "$text"
done
refused 'a device function that is launched' '__device__ void f(int *x) { }
int main() {
f<<<1, 32>>>(x); }' 3 'a __device__ function call cannot be configured: f is launched by <<<>>>, so declare it as '\
'__global__ void f(...)'
refused 'a device template that is launched' 'template <class T> __device__ void f(T *x) { }
int main() { f<int><<<1, 32>>>(x); }' 2 'a __device__ function call cannot be configured: f is launched by <<<>>>, so '\
'declare it as __global__ void f(...)'
accepted 'a pointer to a kernel that is launched' '__global__ void k(int *);
int main() { void (*f)(int *) = k; f<<<1, 32>>>(x); }'
for caller in __global__ __device__ '__host__ __device__'; do
    refused "a kernel called by a $caller function" "__global__ void k(int *x);
$caller void f(int *x) { if (x) k(x); }" 2 'a __global__ function call must be configured, and device code cannot launch '\
'k on the simulator: move its code into a __device__ function that both call'
done

# from_host NAME ADVICE: checks that CUDA's device function NAME is rejected in a host function
from_host() {
    refused "$1 called by the host" "int a;
int main() { return a ? $1(a, 1) : 2; }" 2 "calling a __device__ function(\"$1\") from a __host__ function is not allowed: $2"
    accepted "$1 of the file" "int $1(int, int); int main() { return $1(a, 1); }"
    accepted "$1 in device code" "__device__ int f() { return $1(a, 1); } __host__ __device__ int g() { return $1(a, 1); }"
}
for name in __popc __shfl_xor_sync __ldg __threadfence_block __float_as_int __fadd_rn __vadd2 __any_sync clock64; do
    from_host $name 'call it in a kernel, and copy the result'
done
from_host __syncthreads 'the host waits by cudaDeviceSynchronize()'
for name in atomicAdd atomicCAS_block; do
    from_host $name 'the host uses std::atomic, or a plain operation if it is one thread'
done
accepted 'functions that the host has, too' \
    'int main() { return atomicAddAll(1) + __popcnt(2) + __float2half(3) + a.atomicAdd(1) + rsqrtf(2) + max(1, 2); }'
accepted 'a device function under a condition' 'int main() {
#ifdef __CUDA_ARCH__
return __popc(1);
#endif
}'
refused 'a device function in a macro that quotes' '#define CHECK(x) f(x, #x)
int main() { CHECK(__popc(1)); }' 2 'calling a __device__ function("__popc") from a __host__ function is not allowed: '\
'call it in a kernel, and copy the result'

# from_device CALL NAME ADVICE: checks that the host function NAME is rejected in kernels and device functions
from_device() {
    for qualifier in '__global__ void' '__device__ int'; do
        refused "$1 in a ${qualifier% *} function" "#include <time.h>
$qualifier f(int *a) { a[0] = 2 * $1; }" 2 "calling a __host__ function(\"$2\") from device code is not allowed: $3"
    done
    accepted "$1 in host code" "int f(int *a) { return $1; } __host__ __device__ int g() { return $1; }"
}
from_device 'cudaMalloc(&a, 4)' cudaMalloc 'call it on the host, or malloc() and free() in the kernel'
from_device 'cudaMemcpy(a, b, 4, c)' cudaMemcpy 'call it on the host, or memcpy() and memset() or a loop in the kernel'
from_device 'cudaDeviceSynchronize()' cudaDeviceSynchronize 'call it on the host, before or after the launch'
from_device 'rand()' rand "compute a random number from the thread's index and a seed"
from_device 'std::rand()' rand "compute a random number from the thread's index and a seed"
from_device 'time(NULL)' time 'call clock64()'
from_device 'puts("a")' puts 'call printf()'
from_device 'fprintf(stderr, "a", b)' fprintf 'call printf()'
from_device 'exit(1)' exit 'return, or call __trap() to end the launch with an error'
from_device 'memcmp(a, b, 3)' memcmp 'write a __device__ function of your own'
from_device 'strlen(b)' strlen 'write a __device__ function of your own'
from_device '(std::cout << 1, 2)' std::cout 'call printf()'
refused 'std::vector in a kernel' '__global__ void f(int *a) {
    std::vector<int> v(3); }' 2 'calling a __host__ function("std::vector") from device code is not allowed: declare an array, '\
'or pass a pointer to memory of the device'
for text in 'cudaGridDependencySynchronize(); cudaTriggerProgrammaticLaunchCompletion();' \
    'printf("a"); malloc(3); memcpy(a, b, 4); memset(a, 0, 4); assert(a); abort(); sqrtf(2); qsort(a);' \
    'int n = t.time(0) + p->exit(1) + mine::rand() + rand(1);' 'for (int cout = 0; cout < 3; cout++) a = cout << 2;' \
    'cudaCheck(a); if (cudaSucceeded(a)) a[0] = 1;' 'typename std::vector<int>::size_type n; g(std::vector<int>()); const std::vector<int> &v = w;'; do
    accepted "in a kernel: $text" "__global__ void f(int *a) { $text }"
done
for text in '__device__ int time(int x);' 'using mine::time;' '#define time(x) x' '#include "own.h"' \
    'template <class F> __global__ void f(F time);' 'template <class F> __device__ void f(int a, F &time);' \
    'struct s { float time; };'; do
    accepted "a function that may be another: $text" "$text
__global__ void k() { time(0); }"
done
extended='a lambda that a kernel runs must be an extended lambda: [=] __device__ (...) { ... }'
refused 'a lambda of the host' 'int main() {
k<<<1, 2>>>([=](int i) { return i; }, a); }' 2 "$extended"
refused 'a variable with a lambda of the host' 'int main() { auto f = [](int i) mutable -> int { return i; };
k<<<1, 2>>>(a, f); }' 2 "$extended"
for text in 'k<<<1, 2>>>([=] __device__ (int i) { return i; });' 'k<<<1, 2>>>([=] HD (int i) { return i; });' \
    'k<<<1, 2>>>([] { return 3; }());' 'auto f = [=] __host__ __device__ (int i) { return i; }; k<<<1, 2>>>(f);' \
    'auto f = [](int i) { return i; }; { int f = 1; k<<<1, 2>>>(f); }' \
    'auto f = [](int i) { return i; }; for (auto f : list) k<<<1, 2>>>(f);'; do
    accepted "a lambda: $text" "int main() { $text }"
done
initialised='initializer not allowed for __shared__ variable: shared memory has no initial value; let threads write it, '\
'then __syncthreads()'
for text in 's[4] = {0}' 's = 1' 'n, s{2}' '*s = nullptr'; do
    refused "a shared variable with a value: $text" "__global__ void k() {
__shared__ int $text; }" 2 "$initialised"
done
for text in 'struct { int a = 1; } s' 'T<(a > b)> s' 'int s[(a >= b) + 1]' 'union u { int a; float b; } s[2]'; do
    accepted "a shared variable: $text" "__global__ void k() { __shared__ $text; }"
done
for text in '__shared__ int s;' 'extern __shared__ int s[];'; do
    refused "in a host function: $text" "static int f() {
$text return s; }" 2 'a __shared__ variable declaration is not allowed inside a host function body: only kernels and '\
'__device__ functions have shared memory'
done
accepted 'a shared variable in a lambda of a host function' 'int main() { auto f = [=] __device__ (int i) { __shared__ int s; }; }'
accepted 'a shared variable in a function whose attribute is in a macro' 'KERNEL void f() { __shared__ int s; }'
becomes 'several variables of the device' 'static __device__ const volatile T<a, b> *x, y[2] = {1, 2}, // first
    z;' 'static SIMT_DEVICE_VARIABLE const volatile T<a, b> *x; SIMT_GAP_AFTER_DEVICE_VARIABLE static SIMT_DEVICE_VARIABLE const volatile T<a, b>  y[2] = {1, 2}; SIMT_GAP_AFTER_DEVICE_VARIABLE static SIMT_DEVICE_VARIABLE const volatile T<a, b>  // first
    z; SIMT_GAP_AFTER_DEVICE_VARIABLE'
becomes 'several constants' '__constant__ float a[2] = {f(1, 2), 3}, b; __device__ const int c = 1, d = 2;' \
    '__constant__ float a[2] = {f(1, 2), 3}; SIMT_GAP_AFTER_CONSTANT_VARIABLE __constant__ float  b; SIMT_GAP_AFTER_CONSTANT_VARIABLE SIMT_CONST_DEVICE_VARIABLE const int c = 1; SIMT_GAP_AFTER_CONST_DEVICE_VARIABLE SIMT_CONST_DEVICE_VARIABLE const int  d = 2; SIMT_GAP_AFTER_CONST_DEVICE_VARIABLE'
becomes 'variables of a type that is declared with them' '__device__ struct { int a; } x, y;' \
    'SIMT_DEVICE_VARIABLE struct { int a; } x, y; SIMT_GAP_AFTER_DEVICE_VARIABLE'
functor='template <class T> struct m { T operator()(T x) const { return x; } }; m<s> g;'
for text in 'void (*fp)(int *, int) = plain;' 'float (*tile)[8] = (float (*)[8])p;' 'half (*rows)[4] = p;' \
    'a(); node (*fp[2])(int);' 'f(int (*fp)(int));' 'const std::pair<int, int> (*q)[2] = p;' 'static s (*q)[2];'; do
    unchanged "a declarator beside a function object: $text" "$functor void h() { $text }"
done
becomes 'an argument of a function object' "$functor int h() { return g(*p); }" \
    "$functor int h() { return g(simt_checked_argument(*p)); }"
refused 'a thread_local variable' '__device__ int f() { static thread_local int x; }' 1 \
    'a kernel has no thread_local variables: declare a local variable'
unchanged 'a thread_local variable of the host' 'static int f() { static thread_local int x; }'
becomes 'a literal' '__device__ int f() { return "ab" "c"[i] + u8"x"[1]; }' \
    '__device__ int f() { return "ab" "c"[simt_checked_index_within_array<__typeof__("ab" "c")>() |= i] + u8"x"[simt_checked_index_within_array<__typeof__(u8"x")>() |= 1]; }'
becomes 'constants of the host' \
    'constexpr int a[4]; static const T<2> b[2]; __constant__ const int c[2]; __global__ void f() { a[i] = b[1] + c[j]; }' \
    'constexpr int a[4]; static const T<2> b[2]; SIMT_CONST_CONSTANT_VARIABLE const int c[2]; SIMT_GAP_AFTER_CONST_CONSTANT_VARIABLE __global__ void f() { SIMT_BASIC_BLOCK; a[simt_checked_constant_index_of_host_array<__typeof__(a)>() |= i] = b[simt_checked_constant_index_of_host_array<__typeof__(b)>() |= 1] + c[simt_checked_index_within_array<__typeof__(c)>() |= j]; }'
becomes 'what may not be a constant of the host' \
    'const int a[4]; const int b[2]; S const int c[2]; int d[2]; __device__ int f(const int *a) { int b[3]; return a[i] + b[j] + c[k] + d[1]; }' \
    'const int a[4]; const int b[2]; S const int c[2]; int d[2]; __device__ int f(const int *a) { SIMT_CALLED_FUNCTION; SIMT_NVCC_SMALL_ARRAY_ALIGNMENT int b[3]; return a[simt_checked_index_within_array<__typeof__(a)>() |= i] + b[simt_checked_index_within_array<__typeof__(b)>() |= j] + c[simt_checked_constant_index_of_host_array<__typeof__(c)>() |= k] + d[simt_checked_index_within_array<__typeof__(d)>() |= 1]; }'
in_device 'what may be an array' 'auto &a = b; T c = d, *e; A<int, 4> g; for (auto &h : a) a[1] = c[2] + e[3] + g[4] + h[5];' \
    'auto &a = b; T c = d, *e; A<int, 4> g; for (auto &h : a) a[simt_checked_index_within_array<__typeof__(a)>() |= 1] = c[simt_checked_index_within_array<__typeof__(c)>() |= 2] + e[3] + g[simt_checked_index_within_array<__typeof__(g)>() |= 4] + h[simt_checked_index_within_array<__typeof__(h)>() |= 5];'
in_device 'what declares again' 'int a[4]; { int (*a[2])(int); M(x) a[3]; } return [a] { }; new a[5];' \
    'int a[4]; { int (*a[2])(int); M(x) a[3]; } return [a] { }; new a[5];'
unchanged 'an operator of the device' 'struct s { __device__ int operator[](int i); };'
host_marks 'functions of the host' 4 'static inline const A::b *f(int a) { b; } template <class T> T g(T a) { b; } unsigned long h() { b; } int i(A (*a)[2])
{ if (a) { b; } }'
host_marks 'what may be a function of the device' 0 'M int f() { b; } m int f() { b; } N(a) { b; } m A g() { b; } __device__ int h(); int h() { b; } A::A() { b; } int A::f() { b; } constexpr int i() { b; } struct c { int j() { b; } }; namespace d { }'
in_device 'what closes template arguments' 'A<B<int>> a; b = f<g<3>>(x); c < (d >> e);' \
    'A<B<int>> a; b = f<g<3>>(x); c < (d >> simt_shift_count * e);'
in_device 'a cast' 'a = (int)b + (unsigned long long) (c);' 'a = simt_cast_to_integer_as_gpu_to<int>()->* b + simt_cast_to_integer_as_gpu_to<unsigned long long>()->*  (c);'
in_device 'a cast after an operator' 'return (int)a * (int)b - (long)-c && (int)!d;' \
    'return simt_cast_to_integer_as_gpu_to<int>()->* a * simt_cast_to_integer_as_gpu_to<int>()->* b - simt_cast_to_integer_as_gpu_to<long>()->* -c && simt_cast_to_integer_as_gpu_to<int>()->* !d;'
in_device 'a cast of a cast' '(int)(unsigned)a; (float)(int)b; (int)(float)c;' \
    '(int)(unsigned)a; (float)(int)b; simt_cast_to_integer_as_gpu_to<int>()->* (float)c;'
in_device 'a cast that an operator takes' 'a = -(int)b; a = b * -(int)c; a = !(int)d; a = ~(int)e;' \
    'a = -(int)b; a = b * -(int)c; a = !(int)d; a = ~(int)e;'
in_device 'what is no cast' 'sizeof(int); f(int); (int)[3]; (char *)p; (short)a; (int); g((int x));' \
    'sizeof(int); f(int); (int)[3]; (char *)p; (short)a; (int); g((int x));'
in_device 'casts to pointers' 'a = *(const int4 *)&b->c - *(double *)(d + 4);' \
    'a = *(const int4 *)simt_of_unknown_alignment<16>(&b->c) - *(double *)simt_of_unknown_alignment<8>((d + 4));'
in_device 'a cast of a cast' '(half *)(char *)&a; (unsigned long *const)(void *)(b);' \
    '(half *)simt_of_unknown_alignment<2>((char *)&a); (unsigned long *const)simt_of_unknown_alignment<8>((void *)(b));'
in_device 'reinterpret_cast' 'reinterpret_cast<volatile float2 *>(a + f(b));' \
    'reinterpret_cast<volatile float2 *>(simt_of_unknown_alignment<8>(a + f(b)));'
in_device 'casts whose operand has no certain end, or whose type is not known' \
    '(int *)f<3>(a); (int *)(word)&a; (int *)a++; (int *)n::a; (T *)a; (char *)a; (float)(a * b);' \
    '(int *)f<3>(a); (int *)(word)&a; (int *)a++; (int *)n::a; (T *)a; (char *)a; (float)(a * b);'
in_device 'an assertion' 'assert((int)a < b << c); (int)d;' 'assert((int)a < b << c); simt_cast_to_integer_as_gpu_to<int>()->* d;'
in_device 'a static_cast' 'static_cast<int>(a); static_cast< unsigned >(b); static_cast<float>(c);' \
    'simt_cast_to_integer_as_gpu<int>(a); simt_cast_to_integer_as_gpu< unsigned >(b); static_cast<float>(c);'
becomes 'a member function of the device' 'struct s { __device__ int f() { return (int)a; } int g() { return (int)a; } };' \
    'struct s { __device__ int f() { return simt_cast_to_integer_as_gpu_to<int>()->* a; } int g() { return (int)a; } };'
becomes 'the architecture' '#if __CUDA_ARCH__ < 600
#elif defined __CUDA_ARCH__
#endif
' '#if SIMT_CUDA_ARCH < 600
#elif defined SIMT_CUDA_ARCH
#endif'
unchanged 'the architecture in a host function' 'int f() {
#ifdef __CUDA_ARCH__
#endif
}'
unchanged 'the architecture for inline assembly' '__device__ int f() {
#ifndef __CUDA_ARCH__
    return 1;
#else
#if 1
    asm("a");
#endif
#endif
}'
becomes 'the architecture in a host and device function' '__host__ __device__ int f() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700 // GPUs
    return 1;
#else
    return 2;
#endif
}
struct s { __host__ __device__ ~s() {
#ifndef __CUDA_ARCH__
    free(p);
#endif
} };' '__host__ __device__ int f() {
if (simt_is_in_kernel() ? 1 && SIMT_CUDA_ARCH >= 700         : 0 && 0 >= 700        ) {
    return 1;
} else {
    return 2;
}
}
struct s { __host__ __device__ ~s() {
if (!simt_is_in_kernel()) {
    free(p);
}
} };'
for branch in 'int x = 1;' 'if (a)' 'f(1,' '} {' '#if A
#endif' 'using T = int;'; do
    becomes "a branch of a host and device function: $branch" "__host__ __device__ int f() {
#ifdef __CUDA_ARCH__
$branch
#endif
}" "__host__ __device__ int f() {
#ifdef SIMT_CUDA_ARCH
$branch
#endif
}"
done
becomes 'the architecture beside inline assembly' '#if 1
asm("a");
#endif
#ifdef __CUDA_ARCH__
#endif' '#if 1
asm("a");
#endif
#ifdef SIMT_CUDA_ARCH
#endif'

refused 'a name of textures' 'x;
cudaArray_t a;' 2 'cudaArray_t: the simulator does not support textures, surfaces and arrays: read global memory, by a pointer'
refused 'a graph of nodes' 'cudaGraphAddKernelNode(&n);' 1 'cudaGraphAddKernelNode: the simulator does not support '\
'graphs of single nodes: capture a stream, by cudaStreamBeginCapture()'
refused 'a variable template' 'a;
template <class T> __device__ T x = 1;' 2 'the simulator has no __device__ or __constant__ variables of templates, nor of '\
'class templates: declare a variable for each type'
unchanged 'names like these' 'int mycudaArray = cuInitial + cudaMalloc3D;'
unchanged 'a name of textures in a conditional' '#ifdef A
cudaArray_t a;
#endif'
refused 'an exception in a kernel' '__global__ void k() { throw 1; }' 1 \
    'a kernel has no exceptions: store an error in memory that the host reads, or call __trap()'
refused 'run-time type information in a kernel' '__global__ void k(A *a) { dynamic_cast<B *>(a); }' 1 \
    'a kernel has no dynamic_cast and no typeid: call a virtual function, or store the kind'
unchanged 'an exception on the host' 'void f() { try { throw 1; } catch (...) { } }'
becomes 'a function with a parameter of type struct or enum' '__device__ void f(enum e a, struct s *b) { if (a) b->c = 1; }' \
    '__device__ void f(enum e a, struct s *b) { SIMT_CALLED_FUNCTION; if (a) { SIMT_BASIC_BLOCK; b->c = 1; } }'
becomes 'a class with an attribute' '__device__ int n; struct alignas(16) s { int v[4]; };' \
    'SIMT_DEVICE_VARIABLE int n; SIMT_GAP_AFTER_DEVICE_VARIABLE struct alignas(16) s { int v[4]; };'
becomes 'a table of functions of the device' '__device__ int (*f[2])(int) = {g, h};' \
    'SIMT_DEVICE_VARIABLE_NO_CONSTINIT int (*f[2])(int) = {g, h}; SIMT_GAP_AFTER_DEVICE_VARIABLE'
becomes 'a static variable of the device' '__device__ int f() { static int n = 3; return n++; }' \
    '__device__ int f() { static SIMT_DEVICE_VARIABLE int n = 3; SIMT_GAP_AFTER_DEVICE_VARIABLE return n++; }'
unchanged 'a static constant of the device' '__device__ const int *f() { static const int n = 3; return &n; }'
unchanged 'a static variable of the host' 'int f() { static int n; return n++; }'
becomes 'constants and variables of the device' \
    '__device__ const int a = 1; const __device__ int b = 1; const int *__device__ c; constexpr __device__ int d = 1;' \
    'SIMT_CONST_DEVICE_VARIABLE const int a = 1; SIMT_GAP_AFTER_CONST_DEVICE_VARIABLE const SIMT_CONST_DEVICE_VARIABLE int b = 1; SIMT_GAP_AFTER_CONST_DEVICE_VARIABLE const int *SIMT_DEVICE_VARIABLE_NO_CONSTINIT c; SIMT_GAP_AFTER_DEVICE_VARIABLE constexpr SIMT_CONST_DEVICE_VARIABLE_NO_CONSTINIT int d = 1; SIMT_GAP_AFTER_CONST_DEVICE_VARIABLE'
becomes 'constants in constant memory' \
    '__constant__ const int a = 1; const __constant__ int b = 1; extern const __constant__ int c; __constant__ int (*const d)(int) = f;' \
    'SIMT_CONST_CONSTANT_VARIABLE const int a = 1; SIMT_GAP_AFTER_CONST_CONSTANT_VARIABLE const SIMT_CONST_CONSTANT_VARIABLE int b = 1; SIMT_GAP_AFTER_CONST_CONSTANT_VARIABLE extern const SIMT_CONST_CONSTANT_VARIABLE int c; SIMT_CONST_CONSTANT_VARIABLE_NO_CONSTINIT int (*const d)(int) = f; SIMT_GAP_AFTER_CONST_CONSTANT_VARIABLE'
becomes 'a constant of a macro' '#define A __constant__ const
#define B __host__ __device__ constexpr
x' '#define A SIMT_CONST_CONSTANT_VARIABLE const
#define B __host__ __device__ constexpr
x'
becomes 'constants of templates' \
    'template <class T> __constant__ const T a = 1; template <class T> __device__ constexpr T b = 1; inline __constant__ const int c = 1;' \
    'template <class T>  const T a = 1; template <class T> __device__ constexpr T b = 1; inline  const int c = 1;'
becomes 'attributes after a qualifier' \
    '__device__ [[nodiscard]] int f(int); __device__ [[maybe_unused]] int a; __constant__ alignas(8) [[maybe_unused]] int b;' \
    '__device__ [[nodiscard]] int f(int);  [[maybe_unused]] SIMT_DEVICE_VARIABLE int a; SIMT_GAP_AFTER_DEVICE_VARIABLE  alignas(8) [[maybe_unused]] __constant__ int b; SIMT_GAP_AFTER_CONSTANT_VARIABLE'
becomes 'two qualifiers' '__device__ __constant__ int a; __constant__ __device__ int b;' \
    '__device__ __constant__ int a; SIMT_GAP_AFTER_CONSTANT_VARIABLE __constant__ __device__ int b; SIMT_GAP_AFTER_CONSTANT_VARIABLE'
becomes 'default arguments in braces' '__global__ void k(p a = p{1, 2}, int b = int{3}) { if (b) c; }' \
    '__global__ void k(p a = p{1, 2}, int b = int{3}) { SIMT_BASIC_BLOCK; if (b) { SIMT_BASIC_BLOCK; c; } }'
becomes 'members in braces' 'struct a { int b, c; __device__ a(int d) noexcept : b{d}, c{d + 1} { if (d) e; } };' \
    'struct a { int b, c; __device__ a(int d) noexcept : b{d}, c{d + 1} { SIMT_CALLED_FUNCTION; if (d) { SIMT_BASIC_BLOCK; e; } } };'
host_marks 'a host function with a default argument in braces' 1 'int f(p a = p{1, 2}) { return a.b; }'
unchanged 'disabled code' '#if 0
{ k<<<1, 2>>>(a);
#ifdef A
{
#else
{
#endif
#elif false
{
#elif 1
int a;
#else
{
#endif'
becomes 'code after disabled code' '__global__ void k() {
#if 0
{
#else
if (a) b;
#endif
c; }' '__global__ void k() { SIMT_BASIC_BLOCK;
#if 0
{
#else
if (a) { SIMT_BASIC_BLOCK; b; } SIMT_BASIC_BLOCK;
#endif
c; }'
refused 'a static variable of a template' 'template <class T> __device__ int f() { static T n; return n++; }' 1 \
    'a static variable of a template, inline or member function would be the host'"'"'s: declare it __device__, '\
'outside the function'

message=$("$tool" "$scratch/none.cu" 2>&1)
equal 'no such file' "1 $scratch/none.cu: No such file or directory" "$? $message"
message=$("$tool" "$scratch" 2>&1 >/dev/null)
equal 'a folder' "1 $scratch: Is a directory" "$? $message"
message=$("$tool" 2>&1)
equal 'no argument' '2 usage: rewrite_launch FILE.cu > FILE.cc' "$? $message"
if [ -w /dev/full ]; then
    printf 'int a;\n' >"$source"
    message=$("$tool" "$source" 2>&1 >/dev/full)
    equal 'a full disk' "1 $source: the output cannot be written: No space left on device" "$? $message"
else
    skip 'a full disk' 'no /dev/full here'
fi
awk 'BEGIN { for (i = 0; i < 20000; i++) print "k<<<1, 2>>>(a); // " i }' >"$source"
equal 'a long file' 20000 "$("$tool" "$source" | grep -c '^simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", 1, 2)(a); //')"

(printf assert; head -c 1000000 /dev/zero | tr '\0' '(') >"$source"
equal 'a million open parentheses' 1000006 "$("$tool" "$source" | tail -n +2 | wc -c)"
for deep in '(' '{' 'a?b:'; do
    (printf 'void f() {'; yes "$deep" | head -n 300000 | tr -d '\n'
        [ "$deep" != '{' ] || head -c 300000 /dev/zero | tr '\0' '}'; echo '}') >"$source"
    equal "three hundred thousand $deep in a function" 0 "$("$tool" "$source" | grep -c SIMT_B)"
done

# compiled TEXT: prints the compiler's first error without its location
compiled() {
    printf '#include <cooperative_groups.h>\n%s\n' "$1" >"$scratch/a.cc"
    g++ -std=c++17 -O1 -Icommon/simt -Icommon -c -o "$scratch/a.o" "$scratch/a.cc" 2>&1 | sed -n 's/.*error: //p' | head -n 1
}

# Code that the headers reject: the compiler's error must say what is not supported.
if command -v g++ >/dev/null; then
    equal 'inline PTX' \
        'inline PTX is not supported by the simulator: put it under #ifdef __CUDA_ARCH__, C under #else' \
        "$(compiled '__device__ void f() { asm volatile("bar.sync 0;"); }')"
    matches 'clusters' 'thread block clusters are not supported by the simulator: *' \
        "$(compiled '__global__ void __cluster_dims__(2, 1, 1) k() { }')"
    matches 'managed variables' 'managed variables are not supported by the simulator: cudaMallocManaged()*' "$(compiled '__managed__ int x;')"
    matches 'textures' 'textures, surfaces and arrays are not supported *' \
        "$(compiled '__global__ void k(cudaTextureObject_t t) { }')"
    matches 'asynchronous copies' 'asynchronous copies of groups are not supported *' \
        "$(compiled '__device__ void f(int *a) { cooperative_groups::memcpy_async(0, a, a, 4); }')"
    matches 'a parameter with virtual functions' "*kernel's parameter has virtual functions*" \
        "$(compiled 'struct a { virtual void f(); }; __global__ void k(a b); void g(a b) { simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((k)), "k", 1, 1)(b); }')"
    matches 'a kernel behind a void pointer' '*void pointer does not tell the simulator*' \
        "$(compiled 'void f(void *k) { cudaLaunchKernel(k, dim3(1), dim3(1), (void **)0); }')"
else
    skip 'what the headers refuse' 'no g++'
fi
finish
