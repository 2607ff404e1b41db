/**
 * @file simt_launch.h
 * @brief What a kernel launch becomes, and the C++ forms of host functions.
 */
#ifndef SIMT_LAUNCH_H
#define SIMT_LAUNCH_H

#include "simt_device.h"

extern "C" {
/** Checks and runs a launch; call(arguments) calls the kernel as one thread. What went wrong is the last error. */
cudaError_t simt_launch_kernel(const void *kernel, const char *name, const dim3 *grid, const dim3 *block,
                               size_t dynamic_shared, bool cooperative, void (*call)(const void *),
                               const void *arguments, size_t bytes, size_t parameter_bytes, cudaStream_t stream);
cudaError_t simt_occupancy(int *blocks, const void *kernel, int block_size, size_t dynamic_shared);
cudaError_t simt_copy_symbol(void *to, const void *from, const void *symbol, size_t symbol_bytes, size_t offset,
                             size_t bytes);
}

/* The functions between the engine and the kernel are not the kernel's: they leave no trace. */
#if defined __clang__
#define SIMT_UNTRACED __attribute__((no_sanitize("thread", "coverage"), disable_sanitizer_instrumentation))
#else
#define SIMT_UNTRACED __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#endif

/** A kernel's parameters in a row. */
template <class... Parameters>
struct simt_parameters;
template <>
struct simt_parameters<> {
};
template <class First, class... Rest>
struct simt_parameters<First, Rest...> {
    First first;
    simt_parameters<Rest...> rest;
};

/** The bytes of a kernel's parameters, each where its alignment puts it. */
template <class... Parameters>
constexpr size_t simt_parameter_bytes()
{
    size_t bytes = 0;

    ((bytes = (bytes + alignof(Parameters) - 1) / alignof(Parameters) * alignof(Parameters) + sizeof(Parameters)), ...);
    return bytes;
}

template <class... Parameters>
struct simt_pack {
    static simt_parameters<> pack()
    {
        return {};
    }
};
template <class First, class... Rest>
struct simt_pack<First, Rest...> {
    static simt_parameters<First, Rest...> pack(First first, Rest... rest)
    {
        return {first, simt_pack<Rest...>::pack(rest...)};
    }
};

template <class... Parameters>
struct simt_call {
    void (*kernel)(Parameters...);
    simt_parameters<Parameters...> parameters;

    /** Unpacks one parameter after another, then calls the kernel. */
    template <class... Unpacked>
    SIMT_UNTRACED static void unpack(void (*kernel)(Parameters...), const simt_parameters<> &,
                                     const Unpacked &...unpacked)
    {
        kernel(unpacked...);
    }
    template <class First, class... Rest, class... Unpacked>
    SIMT_UNTRACED static void unpack(void (*kernel)(Parameters...), const simt_parameters<First, Rest...> &left,
                                     const Unpacked &...unpacked)
    {
        unpack(kernel, left.rest, unpacked..., left.first);
    }
    SIMT_UNTRACED static void as_thread(const void *arguments)
    {
        const simt_call *call = (const simt_call *)arguments;

        unpack(call->kernel, call->parameters);
    }
};

template <class... Parameters>
struct simt_launcher {
    void (*kernel)(Parameters...);
    const char *name;
    dim3 grid, block;
    size_t dynamic_shared;
    cudaStream_t stream;

    __attribute__((always_inline)) cudaError_t operator()(Parameters... arguments) const
    {
        const simt_call<Parameters...> call = {kernel, simt_pack<Parameters...>::pack(arguments...)};

        return simt_launch_kernel((const void *)kernel, name, &grid, &block, dynamic_shared, false,
                                  simt_call<Parameters...>::as_thread, &call, sizeof call,
                                  simt_parameter_bytes<Parameters...>(), stream);
    }
};

/** kernel<<<grid, block, dynamic_shared, stream>>>(arguments) is simt_launch((kernel), "kernel", ...)(arguments). */
template <class... Parameters>
static inline simt_launcher<Parameters...> simt_launch(void (*kernel)(Parameters...), const char *name, dim3 grid,
                                                       dim3 block, size_t dynamic_shared = 0, cudaStream_t stream = 0)
{
    return {kernel, name, grid, block, dynamic_shared, stream};
}

/** A parameter list of which nothing is known yet but its types, filled from addresses, first to last. */
static inline void simt_fill(simt_parameters<> *, void **)
{
}
template <class First, class... Rest>
static inline void simt_fill(simt_parameters<First, Rest...> *parameters, void **addresses)
{
    parameters->first = *(const First *)addresses[0];
    simt_fill(&parameters->rest, addresses + 1);
}

template <class... Parameters>
static inline __attribute__((always_inline)) cudaError_t simt_launch_addresses(void (*kernel)(Parameters...),
                                                                               const char *name, dim3 grid, dim3 block,
                                                                               void **addresses, size_t dynamic_shared,
                                                                               bool cooperative, cudaStream_t stream)
{
    simt_call<Parameters...> call;

    call.kernel = kernel;
    simt_fill(&call.parameters, addresses);
    return simt_launch_kernel((const void *)kernel, name, &grid, &block, dynamic_shared, cooperative,
                              simt_call<Parameters...>::as_thread, &call, sizeof call,
                              simt_parameter_bytes<Parameters...>(), stream);
}

/* The kernel by its own type, not as a void pointer: that is where the parameters' types come from. */
template <class... Parameters>
static inline __attribute__((always_inline)) cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid,
                                                                          dim3 block, void **arguments,
                                                                          size_t dynamic_shared = 0,
                                                                          cudaStream_t stream = 0)
{
    return simt_launch_addresses(kernel, "cudaLaunchKernel", grid, block, arguments, dynamic_shared, false, stream);
}
template <class... Parameters>
static inline __attribute__((always_inline)) cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...),
                                                                                     dim3 grid, dim3 block,
                                                                                     void **arguments,
                                                                                     size_t dynamic_shared = 0,
                                                                                     cudaStream_t stream = 0)
{
    return simt_launch_addresses(kernel, "cudaLaunchCooperativeKernel", grid, block, arguments, dynamic_shared, true,
                                 stream);
}
template <class... Parameters>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(Parameters...),
                                                                        int block_size, size_t dynamic_shared)
{
    return simt_occupancy(blocks, (const void *)kernel, block_size, dynamic_shared);
}

template <class T>
static inline cudaError_t cudaMalloc(T **pointer, size_t bytes)
{
    return cudaMalloc((void **)pointer, bytes);
}
template <class T>
static inline cudaError_t cudaMallocHost(T **pointer, size_t bytes)
{
    return cudaMallocHost((void **)pointer, bytes);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                             enum cudaMemcpyKind = cudaMemcpyHostToDevice)
{
    return simt_copy_symbol((char *)&symbol + offset, from, &symbol, sizeof(T), offset, bytes);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                               enum cudaMemcpyKind = cudaMemcpyDeviceToHost)
{
    return simt_copy_symbol(to, (const char *)&symbol + offset, &symbol, sizeof(T), offset, bytes);
}
template <class T>
static inline cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol)
{
    *pointer = (void *)&symbol;
    return cudaSuccess;
}
template <class... Parameters>
static inline cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), enum cudaFuncAttribute attribute,
                                               int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class... Parameters>
static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, void (*kernel)(Parameters...))
{
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}

#endif
