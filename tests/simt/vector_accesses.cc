// Functions, each with the loads and stores that it must compile to, in any order; test_vector_types.sh checks them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__shared__ int4 file_scope[8];

// Each line is a function and its expected accesses.
// clang-format off
extern "C" {
void copy_char2(char2 *to, const char2 *from) { *to = *from; }                // read2 write2
void copy_uchar4(uchar4 *to, const uchar4 *from) { *to = *from; }             // read4 write4
void copy_short2(short2 *to, const short2 *from) { *to = *from; }             // read4 write4
void copy_ushort4(ushort4 *to, const ushort4 *from) { *to = *from; }          // read8 write8
void copy_int2(int2 *to, const int2 *from) { *to = *from; }                   // read8 write8
void copy_uint4(uint4 *to, const uint4 *from) { *to = *from; }                // read16 write16
void copy_float2(float2 *to, const float2 *from) { *to = *from; }             // read8 write8
void copy_float4(float4 *to, const float4 *from) { *to = *from; }             // read16 write16
void copy_longlong1(longlong1 *to, const longlong1 *from) { *to = *from; }    // read8 write8
void copy_ulonglong2(ulonglong2 *to, const ulonglong2 *from) { *to = *from; } // read16 write16
void copy_double2(double2 *to, const double2 *from) { *to = *from; }          // read16 write16
void copy_double4(double4 *to, const double4 *from) { *to = *from; }          // read16 read16 write16 write16
void copy_float3(float3 *to, const float3 *from) { *to = *from; }             // read4 read4 read4 write4 write4 write4
void copy_half(__half *to, const __half *from) { *to = *from; }               // read2 write2
void copy_half2(__half2 *to, const __half2 *from) { *to = *from; }            // read4 write4
void copy_bfloat162(__nv_bfloat162 *to, const __nv_bfloat162 *from) { *to = *from; } // read4 write4

void make_two(int2 *to, int x, int y) { *to = make_int2(x, y); }                  // write8
void make_four(float4 *to, float x) { *to = make_float4(x, 0, x, 1); }            // write16
void list(int4 *to, int x) { *to = {x, 2, 3, 4}; }                                // write16
void cast_store(int *to, int i) { reinterpret_cast<int2 *>(to)[i] = make_int2(i, 1); } // write8
void through_a_local(int4 *to, const int4 *from) { int4 v = *from; v.y = 7; *to = v; } // read16 write16
void swap(int2 *a, int2 *b) { int2 v = *a; *a = *b; *b = v; }                     // read8 read8 write8 write8
float whole_for_a_part(const float4 *from) { float4 v = *from; return v.x + v.w; } // read16
int whole_for_one(const int2 *from) { const int2 v = *from; return v.y; }         // read8
float one_member(const float4 *from) { return from->z; }                          // read4
void loop(int4 *to, const int4 *from, int n) { for (int i = 0; i < n; i++) to[i] = from[i]; } // read16 write16

int4 *shared_file_scope(int i) { return &file_scope[i]; }                         //
int4 *shared_array(int i) { __shared__ int4 s[8]; return &s[i]; }                 //
__half *shared_halves(int i) { __shared__ __half s[8][8]; return &s[i][i]; }      //
float2 *shared_single(void) { __shared__ float2 s; return &s; }                   //

void half_to_float(float *to, const __half *from) { *to = __half2float(*from); }  // read2 write4
void float_to_half(__half *to, const float *from) { *to = __float2half_rn(*from); } // read4 write2
void to_bfloat16(__nv_bfloat16 *to, const double *from) { *to = *from; }          // read8 write2
void maximum(__half *to, const __half *a, const __half *b) { *to = __hmax(*a, *b); } // read2 read2 write2
void minimum(__nv_bfloat16 *to, const __nv_bfloat16 *a) { *to = __hmin(*to, *a); } // read2 read2 write2
void sum(__half *to, const __half *a, const __half *b) { *to = *a + *b; }         // read2 read2 write2
}
