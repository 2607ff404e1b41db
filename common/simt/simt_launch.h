/**
 * @file simt_launch.h
 * @brief The C++ side of a kernel launch, and the C++ overloads of host functions. cuda_runtime.h includes it for C++.
 */
#ifndef SIMT_LAUNCH_H
#define SIMT_LAUNCH_H

#include "simt_device.h"

#include <utility>

extern "C" {
/**
 * Checks and runs a launch; call(arguments) runs one thread of the kernel. `name` is the kernel's name as written in
 * the launch; if it is NULL, the name in the program's symbols is used. The next cudaGetLastError() returns the error
 * if the launch fails.
 */
cudaError_t simt_launch_kernel(const void *kernel, const char *name, const cudaLaunchConfig_t *config,
                               void (*call)(const void *), const void *arguments, size_t bytes, size_t parameter_bytes);
/**
 * Rejects the next launch if the pointer, one of its parameters, is a symbol: the host's address of a device variable.
 */
void simt_reject_parameter_if_symbol(const void *pointer);
/**
 * Returns whether the host may read an argument of the next launch at `address`, entry `argument_number` of the array
 * of arguments. If not, the launch is rejected.
 */
bool simt_check_argument_is_readable(const void *address, unsigned argument_number);
/**
 * Reports a copy, for the call `name`, of more bytes to or from a variable of the host than the `bytes_to_end` that it
 * has from the pointer on. Returns cudaSuccess if the pointer is to other memory or to a variable whose size the
 * program's symbols give.
 */
cudaError_t simt_check_copy_fits_host_variable(const char *name, const void *pointer, size_t bytes,
                                               size_t bytes_to_end);
/** Reports that the memset `name` has a floating-point number other than 0 as its value. */
cudaError_t simt_reject_memset_to_float(const char *name, double value);
/** Records that the program has obtained a variable's address, which may then be passed to kernels. */
cudaError_t simt_record_symbol_address_taken(const void *symbol);
/**
 * Copies to or from byte `offset` of a device variable, as work of a stream. If `host_waits`, the host waits for the
 * copy.
 */
cudaError_t simt_copy_to_or_from_symbol(void *to, const void *from, const void *symbol, size_t symbol_bytes,
                                        size_t offset, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream,
                                        bool host_waits);
}

/* The functions between the engine and the kernel are not part of the kernel, so they are not instrumented. */
#if defined __clang__
#define SIMT_NOT_INSTRUMENTED __attribute__((no_sanitize("thread", "coverage"), disable_sanitizer_instrumentation))
#else
#define SIMT_NOT_INSTRUMENTED __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#endif

/* Several files of a program may have different types with the same name, so these functions are not shared. */
#define SIMT_FILE_LOCAL static inline __attribute__((always_inline))

/**
 * A parameter whose type has a copy constructor or a destructor. CUDA calls these only on the host, and copies the
 * bytes to the threads. The C++ ABI passes such a parameter by the address of an object that belongs to the caller.
 */
template <class Parameter>
struct simt_raw_parameter_storage {
    alignas(Parameter) unsigned char bytes[sizeof(Parameter)];
};
template <class Parameter>
constexpr bool simt_is_passed_by_address = !std::is_trivially_copy_constructible_v<Parameter> ||
                                           !std::is_trivially_move_constructible_v<Parameter> ||
                                           !std::is_trivially_destructible_v<Parameter>;
template <class Parameter>
using simt_stored_parameter =
    std::conditional_t<simt_is_passed_by_address<Parameter>, simt_raw_parameter_storage<Parameter>, Parameter>;

/** Returns a parameter in the form in which it is stored. */
template <class Parameter>
SIMT_NOT_INSTRUMENTED SIMT_FILE_LOCAL simt_stored_parameter<Parameter> simt_store_parameter(const Parameter &parameter)
{
    if constexpr (simt_is_passed_by_address<Parameter>) {
        simt_raw_parameter_storage<Parameter> stored;

        __builtin_memcpy(stored.bytes, (const void *)&parameter, sizeof parameter);
        return stored;
    } else {
        return parameter;
    }
}

/** Returns a stored parameter in the form in which the C++ ABI passes it. */
template <class Parameter>
SIMT_NOT_INSTRUMENTED SIMT_FILE_LOCAL auto simt_parameter_as_abi_passes_it(simt_stored_parameter<Parameter> &stored)
{
    if constexpr (simt_is_passed_by_address<Parameter>)
        return (void *)stored.bytes;
    else
        return stored;
}
/** Returns a stored parameter as an object. */
template <class Parameter>
SIMT_NOT_INSTRUMENTED SIMT_FILE_LOCAL const Parameter &simt_parameter_object(
    const simt_stored_parameter<Parameter> &stored)
{
    if constexpr (simt_is_passed_by_address<Parameter>)
        return *(const Parameter *)stored.bytes;
    else
        return stored;
}

/** A kernel's parameters, stored as the first one and a nested structure with the rest. */
template <class... Parameters>
struct simt_parameters;
template <>
struct simt_parameters<> {
};
template <class First, class... Rest>
struct simt_parameters<First, Rest...> {
    simt_stored_parameter<First> first;
    simt_parameters<Rest...> rest;
};

/** Calls a kernel with its stored parameters, of which each thread has its own copies. */
template <class... Parameters>
SIMT_NOT_INSTRUMENTED SIMT_FILE_LOCAL void simt_call_kernel(void (*kernel)(Parameters...),
                                                            simt_stored_parameter<Parameters>... stored)
{
    if constexpr ((simt_is_passed_by_address<Parameters> || ...))
        ((void (*)(std::conditional_t<simt_is_passed_by_address<Parameters>, void *, Parameters>...))(
            void (*)(void))kernel)(simt_parameter_as_abi_passes_it<Parameters>(stored)...);
    else
        kernel(stored...);
}
/** Returns the size in bytes of a kernel's parameters, each aligned as its type requires. */
template <class... Parameters>
constexpr size_t simt_parameter_bytes()
{
    size_t bytes = 0;

    static_assert(!(std::is_polymorphic_v<Parameters> || ...),
                  "a kernel's parameter has virtual functions, of which the host's object knows the host's addresses "
                  "only: make the object in the kernel");
    static_assert(!(std::is_reference_v<Parameters> || ...),
                  "a kernel's parameter is a reference, which would refer to the host's memory: pass the value, or a "
                  "pointer to device memory");
    ((bytes = (bytes + alignof(Parameters) - 1) / alignof(Parameters) * alignof(Parameters) + sizeof(Parameters)), ...);
    return bytes;
}

/** Checks a parameter of the next launch: a pointer must not be the host's address of a device variable. */
template <class Parameter>
static inline void simt_check_parameter_is_no_symbol(const Parameter &parameter)
{
    if constexpr (std::is_pointer_v<Parameter> && !std::is_function_v<std::remove_pointer_t<Parameter>>)
        simt_reject_parameter_if_symbol((const void *)parameter);
}

template <class... Parameters>
struct simt_parameter_packer {
    static simt_parameters<> pack()
    {
        return {};
    }
};
template <class First, class... Rest>
struct simt_parameter_packer<First, Rest...> {
    static __attribute__((always_inline)) simt_parameters<First, Rest...> pack(const First &first, const Rest &...rest)
    {
        simt_check_parameter_is_no_symbol(first);
        return {simt_store_parameter(first), simt_parameter_packer<Rest...>::pack(rest...)};
    }
};

/** A kernel, or a function object that calls one, together with the parameters. */
template <class Kernel, class... Parameters>
struct simt_packed_kernel_call {
    Kernel kernel;
    simt_parameters<Parameters...> parameters;

    /** Unpacks the parameters one by one, then calls the kernel. */
    template <class... Unpacked>
    SIMT_NOT_INSTRUMENTED static void unpack(const Kernel &kernel, const simt_parameters<> &,
                                             const Unpacked &...unpacked)
    {
        if constexpr (std::is_pointer_v<Kernel>)
            simt_call_kernel<Parameters...>(kernel, unpacked...);
        else
            kernel(simt_parameter_object<Parameters>(unpacked)...);
    }
    template <class First, class... Rest, class... Unpacked>
    SIMT_NOT_INSTRUMENTED static void unpack(const Kernel &kernel, const simt_parameters<First, Rest...> &remaining,
                                             const Unpacked &...unpacked)
    {
        unpack(kernel, remaining.rest, unpacked..., remaining.first);
    }
    SIMT_NOT_INSTRUMENTED static void run_thread(const void *arguments)
    {
        const simt_packed_kernel_call *call = (const simt_packed_kernel_call *)arguments;

        unpack(call->kernel, call->parameters);
    }
};

/** The configuration of a launch, as in <<<...>>>, and the kernel's name. */
struct simt_named_launch_configuration {
    const char *name;
    cudaLaunchConfig_t config;

    template <class... Parameters>
    __attribute__((always_inline)) cudaError_t launch(void (*kernel)(Parameters...),
                                                      const Parameters &...arguments) const
    {
        const simt_packed_kernel_call<void (*)(Parameters...), Parameters...> call = {
            kernel, simt_parameter_packer<Parameters...>::pack(arguments...)};

        return simt_launch_kernel((const void *)kernel, name, &config, call.run_thread, &call, sizeof call,
                                  simt_parameter_bytes<Parameters...>());
    }
};

/** Launches a kernel whose threads call it by its name with these arguments. */
template <class Call, class... Given>
static inline __attribute__((always_inline)) cudaError_t simt_launch_by_name(
    const simt_named_launch_configuration &configuration, const Call &call, Given... given)
{
    const simt_packed_kernel_call<Call, Given...> all = {call, simt_parameter_packer<Given...>::pack(given...)};

    return simt_launch_kernel((const void *)all.run_thread, configuration.name, &configuration.config, all.run_thread,
                              &all, sizeof all, simt_parameter_bytes<Given...>());
}

/** Launches a single kernel with its first parameters only, of the types `Given`, or with more of them. */
template <class Launcher, class Given, class... Rest>
struct simt_fewer_arguments_launcher;
template <class... Given>
struct simt_given_argument_types {
};
template <class Launcher, class... Given>
struct simt_fewer_arguments_launcher<Launcher, simt_given_argument_types<Given...>> {
    void operator()(const Launcher &, simt_given_argument_types<Given...>) const; /* has all parameters: never called */
};
template <class Launcher, class... Given, class Next, class... Rest>
struct simt_fewer_arguments_launcher<Launcher, simt_given_argument_types<Given...>, Next, Rest...>
    : simt_fewer_arguments_launcher<Launcher, simt_given_argument_types<Given..., Next>, Rest...> {
    using simt_fewer_arguments_launcher<Launcher, simt_given_argument_types<Given..., Next>, Rest...>::operator();

    __attribute__((always_inline)) cudaError_t operator()(Given... given) const
    {
        const Launcher &launcher = static_cast<const Launcher &>(*this);

        return simt_launch_by_name(launcher.configuration, launcher.call, given...);
    }
};

/**
 * Launches a single kernel. If it has default arguments and some are used, each thread calls it by its name. The base
 * has the types of the parameters that are not left out, so that arguments may be in braces.
 */
template <class Call, class... Parameters>
struct simt_launcher
    : simt_fewer_arguments_launcher<simt_launcher<Call, Parameters...>, simt_given_argument_types<>, Parameters...> {
    void (*kernel)(Parameters...);
    Call call;
    simt_named_launch_configuration configuration;

    __attribute__((always_inline)) simt_launcher(void (*its_kernel)(Parameters...), const Call &its_call,
                                                 const simt_named_launch_configuration &its_configuration)
        : kernel(its_kernel), call(its_call), configuration(its_configuration)
    {
    }
    using simt_fewer_arguments_launcher<simt_launcher, simt_given_argument_types<>, Parameters...>::operator();
    __attribute__((always_inline)) cudaError_t operator()(Parameters... arguments) const
    {
        return configuration.launch<Parameters...>(kernel, arguments...);
    }
    template <class... Given>
    __attribute__((always_inline)) std::enable_if_t<(sizeof...(Given) < sizeof...(Parameters)), cudaError_t> operator()(
        Given... given) const
    {
        return simt_launch_by_name(configuration, call, given...);
    }
};

/*
 * Resolve a kernel's name to a function: simt_unique_kernel_resolver if the name denotes a single function;
 * simt_overloaded_kernel_resolver, which uses the parameter types, if the name denotes a template or overloads.
 */
struct simt_unique_kernel_resolver {
    template <class... Parameters>
    auto operator()(void (*kernel)(Parameters...)) const
    {
        return kernel;
    }
};
template <class... Parameters>
struct simt_overloaded_kernel_resolver {
    auto operator()(void (*kernel)(Parameters...)) const
    {
        return kernel;
    }
};

/**
 * Finds the kernel by the types of the arguments. If these types do not match the parameter types exactly, each thread
 * calls the kernel by its name, so that the arguments are converted.
 */
template <class Find, class Call>
struct simt_overload_launcher {
    Find find;
    Call call;
    simt_named_launch_configuration configuration;

    template <class... Given>
    __attribute__((always_inline)) cudaError_t operator()(Given... given) const
    {
        if constexpr (std::is_invocable<Find, simt_overloaded_kernel_resolver<Given...>>::value) {
            return configuration.launch<Given...>(find(simt_overloaded_kernel_resolver<Given...>()), given...);
        } else {
            return simt_launch_by_name(configuration, call, given...);
        }
    }
};

/*
 * Creates two function objects from a kernel's name, which may name a template without its arguments: the first finds
 * the function, and the second calls it.
 */
#define SIMT_KERNEL_FINDER_AND_CALLER(...)                                                   \
    [=](auto simt_how) -> decltype(simt_how(__VA_ARGS__)) { return simt_how(__VA_ARGS__); }, \
        [=](const auto &...simt_given_arguments) SIMT_NOT_INSTRUMENTED { __VA_ARGS__(simt_given_arguments...); }

/**
 * Starts a launch. The rewriter turns kernel<<<grid, block, dynamic_shared, stream>>>(arguments) into
 * simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((kernel)), "kernel", ...)(arguments).
 */
template <class Find, class Call>
static inline __attribute__((always_inline)) auto simt_launch(const Find &find, const Call &call, const char *name,
                                                              dim3 grid, dim3 block, size_t dynamic_shared = 0,
                                                              cudaStream_t stream = 0)
{
    const simt_named_launch_configuration configuration = {name, {grid, block, dynamic_shared, stream, NULL, 0}};

    if constexpr (std::is_invocable<Find, simt_unique_kernel_resolver>::value)
        return simt_launcher{find(simt_unique_kernel_resolver()), call, configuration};
    else
        return simt_overload_launcher<Find, Call>{find, call, configuration};
}
/**
 * Launches a kernel with the addresses of its arguments, in order; only the types of the parameters are known. The
 * launch is rejected if an argument cannot be read.
 */
template <class... Parameters, size_t... Number>
static inline __attribute__((always_inline)) cudaError_t simt_launch_addresses(const cudaLaunchConfig_t *config,
                                                                               void (*kernel)(Parameters...),
                                                                               void **addresses,
                                                                               std::index_sequence<Number...>)
{
    using call = simt_packed_kernel_call<void (*)(Parameters...), Parameters...>;
    alignas(call) unsigned char bytes[sizeof(call)] = {};

    (void)addresses;
    if ((simt_check_argument_is_readable(addresses[Number], Number) && ...)) {
        const call all = {kernel,
                          simt_parameter_packer<Parameters...>::pack(*(const Parameters *)addresses[Number]...)};

        __builtin_memcpy(bytes, (const void *)&all, sizeof all);
    }
    return simt_launch_kernel((const void *)kernel, NULL, config, call::run_thread, bytes, sizeof bytes,
                              simt_parameter_bytes<Parameters...>());
}
template <class... Parameters>
static inline __attribute__((always_inline)) cudaError_t simt_launch_addresses(const cudaLaunchConfig_t *config,
                                                                               void (*kernel)(Parameters...),
                                                                               void **addresses)
{
    return simt_launch_addresses(config, kernel, addresses, std::index_sequence_for<Parameters...>());
}

/*
 * Launch a kernel that is passed with its function type, from which the parameters' types are deduced. The rewriter
 * removes casts to a void pointer.
 */
template <class... Parameters>
static inline __attribute__((always_inline)) cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid,
                                                                          dim3 block, void **arguments,
                                                                          size_t dynamic_shared = 0,
                                                                          cudaStream_t stream = 0)
{
    const cudaLaunchConfig_t config = {grid, block, dynamic_shared, stream, NULL, 0};

    return simt_launch_addresses(&config, kernel, arguments);
}
template <class... Parameters>
static inline __attribute__((always_inline)) cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...),
                                                                                     dim3 grid, dim3 block,
                                                                                     void **arguments,
                                                                                     size_t dynamic_shared = 0,
                                                                                     cudaStream_t stream = 0)
{
    cudaLaunchAttribute cooperative = {cudaLaunchAttributeCooperative, {1}};
    const cudaLaunchConfig_t config = {grid, block, dynamic_shared, stream, &cooperative, 1};

    return simt_launch_addresses(&config, kernel, arguments);
}
template <class... Parameters>
static inline __attribute__((always_inline)) cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                                                             void (*kernel)(Parameters...),
                                                                             void **arguments)
{
    return simt_launch_addresses(config, kernel, arguments);
}
template <class... Parameters, class... Given>
static inline __attribute__((always_inline)) cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                                                            void (*kernel)(Parameters...),
                                                                            Given &&...arguments)
{
    const simt_named_launch_configuration configuration = {NULL, *config};

    return configuration.launch<Parameters...>(kernel, (Parameters)arguments...);
}
#define SIMT_REJECT_VOID_POINTER_KERNEL                                                                            \
    __attribute__((error("a void pointer does not tell the simulator the kernel's parameters: write the kernel's " \
                         "own name in the call")))
SIMT_REJECT_VOID_POINTER_KERNEL cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
                                                             void **arguments, size_t dynamic_shared = 0,
                                                             cudaStream_t stream = 0);
SIMT_REJECT_VOID_POINTER_KERNEL cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block,
                                                                        void **arguments, size_t dynamic_shared = 0,
                                                                        cudaStream_t stream = 0);
SIMT_REJECT_VOID_POINTER_KERNEL cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                                                void **arguments);

/* --- other functions whose argument is a kernel or a variable, of any type ---------------------------------------- */

template <class... Parameters>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(Parameters...),
                                                                        int block_size, size_t dynamic_shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, block_size, dynamic_shared);
}
template <class Kernel>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, Kernel kernel,
                                                                                 int block_size, size_t dynamic_shared,
                                                                                 unsigned)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, block_size, dynamic_shared);
}
template <class... Parameters>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, void (*kernel)(Parameters...),
                                                                    int blocks, int block_size)
{
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, (const void *)kernel, blocks, block_size);
}
/**
 * Finds the block size with the most resident threads per multiprocessor; ties go to the largest block size.
 * `shared_of` returns the size in bytes of the dynamic shared memory for a block of a given size.
 */
template <class Kernel, class Shared>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid_size, int *block_size, Kernel kernel,
                                                                         Shared shared_of, int limit = 0)
{
    const int largest = limit > 0 && limit < 1024 ? limit : 1024;
    int best = 0, processors = 0;

    if (!grid_size || !block_size)
        return cudaErrorInvalidValue;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    for (int size = (largest + 31) / 32 * 32; size > 0; size -= 32) {
        const int threads = size < largest ? size : largest;
        int blocks = 0;
        const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)kernel, threads,
                                                                                (size_t)shared_of(threads));

        if (error != cudaSuccess)
            return error;
        if (blocks * threads > best) {
            best = blocks * threads;
            *block_size = threads;
            *grid_size = blocks * processors;
        }
    }
    return best > 0 ? cudaSuccess : cudaErrorInvalidValue;
}
template <class Kernel>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid_size, int *block_size, Kernel kernel,
                                                             size_t dynamic_shared = 0, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid_size, block_size, kernel, [=](int) { return dynamic_shared; }, limit);
}

template <class T>
static inline cudaError_t cudaMalloc(T **pointer, size_t bytes)
{
    return cudaMalloc((void **)pointer, bytes);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream)
{
    return cudaMallocAsync((void **)pointer, bytes, stream);
}
template <class T>
static inline cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned flags)
{
    return cudaHostAlloc((void **)pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T **device, void *pointer, unsigned flags)
{
    return cudaHostGetDevicePointer((void **)device, pointer, flags);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T **pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void **)pointer, bytes, flags);
}
static inline cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device)
{
    return cudaMemPrefetchAsync(pointer, bytes, device, 0);
}
template <class T>
static inline cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height)
{
    return cudaMallocPitch((void **)pointer, pitch, width, height);
}
/*
 * Copies to and from variables of the host. Where a pointer is to a variable that the compiler knows, the call itself
 * compares the number of bytes with the variable's size; local variables have no symbols that give it. An end that the
 * direction says is in device memory is not compared, because the call itself rejects a variable of the host there.
 */
#define SIMT_ALWAYS_INLINE inline __attribute__((always_inline))
#define SIMT_GNU_INLINE    extern SIMT_ALWAYS_INLINE __attribute__((gnu_inline))
#define SIMT_RETURN_ERROR_UNLESS_COPY_FITS_HOST_VARIABLE(name, pointer, bytes, kind_if_device)                         \
    if (__builtin_object_size(pointer, 0) < (bytes) && kind != (kind_if_device) && kind != cudaMemcpyDeviceToDevice && \
        simt_check_copy_fits_host_variable(name, pointer, bytes, __builtin_object_size(pointer, 0)) != cudaSuccess)    \
    return cudaPeekAtLastError()

extern "C" {
cudaError_t simt_real_cuda_memcpy(void *to, const void *from, size_t bytes,
                                  enum cudaMemcpyKind kind) __asm__("cudaMemcpy");
cudaError_t simt_real_cuda_memcpy_async(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                        cudaStream_t stream) __asm__("cudaMemcpyAsync");
cudaError_t simt_real_cuda_memcpy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind) __asm__("cudaMemcpy2D");
cudaError_t simt_real_cuda_memcpy_2d_async(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                           size_t height, enum cudaMemcpyKind kind,
                                           cudaStream_t stream) __asm__("cudaMemcpy2DAsync");

SIMT_GNU_INLINE cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    SIMT_RETURN_ERROR_UNLESS_COPY_FITS_HOST_VARIABLE("cudaMemcpy", to, bytes, cudaMemcpyHostToDevice);
    SIMT_RETURN_ERROR_UNLESS_COPY_FITS_HOST_VARIABLE("cudaMemcpy", from, bytes, cudaMemcpyDeviceToHost);
    return simt_real_cuda_memcpy(to, from, bytes, kind);
}
SIMT_GNU_INLINE cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                            cudaStream_t stream)
{
    SIMT_RETURN_ERROR_UNLESS_COPY_FITS_HOST_VARIABLE("cudaMemcpyAsync", to, bytes, cudaMemcpyHostToDevice);
    SIMT_RETURN_ERROR_UNLESS_COPY_FITS_HOST_VARIABLE("cudaMemcpyAsync", from, bytes, cudaMemcpyDeviceToHost);
    return simt_real_cuda_memcpy_async(to, from, bytes, kind, stream);
}
SIMT_GNU_INLINE cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                         size_t height, enum cudaMemcpyKind kind)
{
    const size_t before_last = height > 0 && width > 0 ? height - 1 : 0;

    SIMT_RETURN_ERROR_UNLESS_COPY_FITS_HOST_VARIABLE(
        "cudaMemcpy2D", to, before_last * to_pitch + (height > 0 ? width : 0), cudaMemcpyHostToDevice);
    SIMT_RETURN_ERROR_UNLESS_COPY_FITS_HOST_VARIABLE(
        "cudaMemcpy2D", from, before_last * from_pitch + (height > 0 ? width : 0), cudaMemcpyDeviceToHost);
    return simt_real_cuda_memcpy_2d(to, to_pitch, from, from_pitch, width, height, kind);
}
SIMT_GNU_INLINE cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                              size_t width, size_t height, enum cudaMemcpyKind kind,
                                              cudaStream_t stream)
{
    const size_t before_last = height > 0 && width > 0 ? height - 1 : 0;

    SIMT_RETURN_ERROR_UNLESS_COPY_FITS_HOST_VARIABLE(
        "cudaMemcpy2DAsync", to, before_last * to_pitch + (height > 0 ? width : 0), cudaMemcpyHostToDevice);
    SIMT_RETURN_ERROR_UNLESS_COPY_FITS_HOST_VARIABLE(
        "cudaMemcpy2DAsync", from, before_last * from_pitch + (height > 0 ? width : 0), cudaMemcpyDeviceToHost);
    return simt_real_cuda_memcpy_2d_async(to, to_pitch, from, from_pitch, width, height, kind, stream);
}
}

static inline cudaError_t cudaEventRecord(cudaEvent_t event)
{
    return cudaEventRecord(event, 0);
}
static SIMT_ALWAYS_INLINE cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                                      enum cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(to, from, bytes, kind, 0);
}
static inline cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes)
{
    return cudaMemsetAsync(to, value, bytes, 0);
}
/* A memset to a floating-point number, which CUDA converts to int. Only 0 gives elements with the number's value. */
template <class T>
using simt_if_floating = std::enable_if_t<std::is_floating_point_v<T>>;
template <class T, class = simt_if_floating<T>>
static SIMT_ALWAYS_INLINE cudaError_t cudaMemset(void *to, T value, size_t bytes)
{
    return value == 0 ? cudaMemset(to, 0, bytes) : simt_reject_memset_to_float("cudaMemset", (double)value);
}
template <class T, class = simt_if_floating<T>>
static SIMT_ALWAYS_INLINE cudaError_t cudaMemsetAsync(void *to, T value, size_t bytes, cudaStream_t stream = 0)
{
    return value == 0 ? cudaMemsetAsync(to, 0, bytes, stream)
                      : simt_reject_memset_to_float("cudaMemsetAsync", (double)value);
}
template <class T, class = simt_if_floating<T>>
static SIMT_ALWAYS_INLINE cudaError_t cudaMemset2D(void *to, size_t pitch, T value, size_t width, size_t height)
{
    return value == 0 ? cudaMemset2D(to, pitch, 0, width, height)
                      : simt_reject_memset_to_float("cudaMemset2D", (double)value);
}
template <class T, class = simt_if_floating<T>>
static SIMT_ALWAYS_INLINE cudaError_t cudaMemset2DAsync(void *to, size_t pitch, T value, size_t width, size_t height,
                                                        cudaStream_t stream)
{
    return value == 0 ? cudaMemset2DAsync(to, pitch, 0, width, height, stream)
                      : simt_reject_memset_to_float("cudaMemset2DAsync", (double)value);
}
template <class T, class = simt_if_floating<T>>
static SIMT_ALWAYS_INLINE cudaError_t cudaMemset3D(cudaPitchedPtr to, T value, cudaExtent extent)
{
    return value == 0 ? cudaMemset3D(to, 0, extent) : simt_reject_memset_to_float("cudaMemset3D", (double)value);
}
template <class T, class = simt_if_floating<T>>
static SIMT_ALWAYS_INLINE cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, T value, cudaExtent extent,
                                                        cudaStream_t stream)
{
    return value == 0 ? cudaMemset3DAsync(to, 0, extent, stream)
                      : simt_reject_memset_to_float("cudaMemset3DAsync", (double)value);
}
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event)
{
    return cudaStreamWaitEvent(stream, event, 0);
}
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph)
{
    return cudaGraphInstantiate(exec, graph, 0);
}
/* The same function with the signature of CUDA 11. */
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *, char *,
                                               size_t)
{
    return cudaGraphInstantiate(exec, graph, 0);
}
static inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth)
{
    return {width, height, depth};
}
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
    return {x, y, z};
}
static inline cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch, size_t width, size_t height)
{
    return {pointer, pitch, width, height};
}
template <class T>
static inline cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned = 0)
{
    return cudaMallocHost((void **)pointer, bytes);
}
template <class T>
static SIMT_ALWAYS_INLINE cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes,
                                                         size_t offset = 0,
                                                         enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    SIMT_RETURN_ERROR_UNLESS_COPY_FITS_HOST_VARIABLE("cudaMemcpyToSymbol", from, bytes, cudaMemcpyDeviceToHost);
    return simt_copy_to_or_from_symbol((char *)&symbol + offset, from, &symbol, sizeof(T), offset, bytes, kind, NULL,
                                       true);
}
template <class T>
static SIMT_ALWAYS_INLINE cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                                           enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    SIMT_RETURN_ERROR_UNLESS_COPY_FITS_HOST_VARIABLE("cudaMemcpyFromSymbol", to, bytes, cudaMemcpyHostToDevice);
    return simt_copy_to_or_from_symbol(to, (const char *)&symbol + offset, &symbol, sizeof(T), offset, bytes, kind,
                                       NULL, true);
}
template <class T>
static SIMT_ALWAYS_INLINE cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes,
                                                              size_t offset = 0,
                                                              enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                              cudaStream_t stream = 0)
{
    SIMT_RETURN_ERROR_UNLESS_COPY_FITS_HOST_VARIABLE("cudaMemcpyToSymbolAsync", from, bytes, cudaMemcpyDeviceToHost);
    return simt_copy_to_or_from_symbol((char *)&symbol + offset, from, &symbol, sizeof(T), offset, bytes, kind, stream,
                                       false);
}
template <class T>
static SIMT_ALWAYS_INLINE cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes,
                                                                size_t offset = 0,
                                                                enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                                cudaStream_t stream = 0)
{
    SIMT_RETURN_ERROR_UNLESS_COPY_FITS_HOST_VARIABLE("cudaMemcpyFromSymbolAsync", to, bytes, cudaMemcpyHostToDevice);
    return simt_copy_to_or_from_symbol(to, (const char *)&symbol + offset, &symbol, sizeof(T), offset, bytes, kind,
                                       stream, false);
}
template <class Pointer, class T>
static inline cudaError_t cudaGetSymbolAddress(Pointer **pointer, const T &symbol)
{
    *pointer = (Pointer *)&symbol;
    return simt_record_symbol_address_taken(&symbol);
}
template <class T>
static inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol)
{
    *bytes = sizeof symbol;
    return cudaSuccess;
}
template <class... Parameters>
static inline cudaError_t cudaFuncSetCacheConfig(void (*kernel)(Parameters...), enum cudaFuncCache config)
{
    return cudaFuncSetCacheConfig((const void *)kernel, config);
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
