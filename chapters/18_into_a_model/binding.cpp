/**
 * @file binding.cpp
 * @brief Chapter 18: the operators' CUDA implementations through LibTorch's stable C ABI, from PyTorch 2.9 on.
 *
 * PyTorch passes a call's arguments in an array of 64-bit words and reads the results from the same array. A word holds
 * a tensor's handle or a number's bits. The callee owns the arguments' handles, the caller those of the results. This
 * file is C++ for two reasons only: the ABI's headers are C++, and the ABI reports errors as exceptions.
 */
#include "moe_routing.h"

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#if __has_include(<torch/csrc/stable/c/shim.h>) /* from 2.10 on */
#include <torch/csrc/stable/c/shim.h>
#endif

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>

// [fail]
/** Throws an exception that PyTorch turns into a ValueError. */
[[noreturn]] static void reject(const std::string &message)
{
    throw std::invalid_argument("moe_routing: " + message);
}

static void require(AOTITorchError error)
{
    if (error)
        throw std::runtime_error("moe_routing: PyTorch has reported an error above");
}

static void launched(int error)
{
    if (error)
        throw std::runtime_error(std::string("moe_routing: ") + moe_routing_error(error));
}
// [fail]

// [words]
static AtenTensorHandle handle_in(StableIValue word)
{
    return reinterpret_cast<AtenTensorHandle>(static_cast<uintptr_t>(word));
}

/** Returns the handle of an optional tensor, NULL if there is none, and deletes the word that points to it. */
static AtenTensorHandle optional_handle_in(StableIValue word)
{
    StableIValue *const inner = reinterpret_cast<StableIValue *>(static_cast<uintptr_t>(word));
    const AtenTensorHandle handle = inner ? handle_in(*inner) : nullptr;

    delete inner;
    return handle;
}

static int32_t integer_in(StableIValue word, const char *name)
{
    const int64_t value = static_cast<int64_t>(word);

    if (value != static_cast<int32_t>(value))
        reject(std::string(name) + ": " + std::to_string(value) + ", more than 32 bits");
    return static_cast<int32_t>(value);
}

static double real_in(StableIValue word)
{
    double value;

    memcpy(&value, &word, sizeof value);
    return value;
}
// [words]

// [tensor]
/** A tensor that this call owns. */
class tensor
{
  public:
    explicit tensor(AtenTensorHandle owned) : handle(owned)
    {
    }
    tensor(const tensor &) = delete;
    tensor &operator=(const tensor &) = delete;
    ~tensor()
    {
        if (handle)
            aoti_torch_delete_tensor_object(handle);
    }

    /** Allocates a tensor on CUDA device `device`. */
    tensor(int32_t dtype, int32_t device, std::initializer_list<int64_t> shape) : handle(nullptr)
    {
        int64_t strides[4], stride = 1;

        for (size_t i = shape.size(); i-- > 0; stride *= shape.begin()[i])
            strides[i] = stride;
        require(aoti_torch_empty_strided(static_cast<int64_t>(shape.size()), shape.begin(), strides, dtype,
                                         aoti_torch_device_type_cuda(), device, &handle));
    }

    explicit operator bool() const
    {
        return handle;
    }

    int32_t dtype() const
    {
        int32_t dtype;

        require(aoti_torch_get_dtype(handle, &dtype));
        return dtype;
    }

    int32_t device() const
    {
        int32_t device;

        require(aoti_torch_get_device_index(handle, &device));
        return device;
    }

    int64_t size(int64_t dimension) const
    {
        int64_t size;

        require(aoti_torch_get_size(handle, dimension, &size));
        return size;
    }

    int64_t numel() const
    {
        int64_t numel;

        require(aoti_torch_get_numel(handle, &numel));
        return numel;
    }

    void *data() const
    {
        void *data = nullptr;

        if (handle)
            require(aoti_torch_get_data_ptr(handle, &data));
        return data;
    }

    /** Rejects a tensor that the kernels cannot read. */
    void check(const char *name, std::initializer_list<int32_t> dtypes, int64_t rank, int32_t where) const;
    void check_size(const char *name, int64_t dimension, int64_t expected) const;

    /** Returns the handle as a word and passes its ownership to PyTorch. */
    StableIValue release()
    {
        const StableIValue word = static_cast<StableIValue>(reinterpret_cast<uintptr_t>(handle));

        handle = nullptr;
        return word;
    }

  private:
    AtenTensorHandle handle;
};
// [tensor]

static const char *dtype_name(int32_t dtype)
{
    return dtype == aoti_torch_dtype_float32()    ? "torch.float32"
           : dtype == aoti_torch_dtype_float16()  ? "torch.float16"
           : dtype == aoti_torch_dtype_bfloat16() ? "torch.bfloat16"
           : dtype == aoti_torch_dtype_int32()    ? "torch.int32"
           : dtype == aoti_torch_dtype_int64()    ? "torch.int64"
                                                  : "another type";
}

void tensor::check(const char *name, std::initializer_list<int32_t> dtypes, int64_t rank, int32_t where) const
{
    const std::string argument = std::string(name) + ": ";
    const int32_t own = dtype();
    int64_t dimensions;
    int32_t device_type;
    bool contiguous, allowed = false;
    std::string names;

    for (const int32_t dtype : dtypes) {
        allowed = allowed || own == dtype;
        names += (names.empty() ? "" : " or ") + std::string(dtype_name(dtype));
    }
    require(aoti_torch_get_dim(handle, &dimensions));
    require(aoti_torch_get_device_type(handle, &device_type));
    require(aoti_torch_is_contiguous(handle, &contiguous));
    if (!allowed)
        reject(argument + dtype_name(own) + ", not " + names);
    if (dimensions != rank)
        reject(argument + std::to_string(dimensions) + " dimensions, not " + std::to_string(rank));
    if (!contiguous)
        reject(argument + "strides of a tensor that is not contiguous");
    if (device_type != aoti_torch_device_type_cuda() || device() != where)
        reject(argument + "not on cuda:" + std::to_string(where));
    if (reinterpret_cast<uintptr_t>(data()) % 16 != 0)
        reject(argument + "an address that is not a multiple of 16 bytes");
}

void tensor::check_size(const char *name, int64_t dimension, int64_t expected) const
{
    if (size(dimension) != expected)
        reject(std::string(name) + ": size " + std::to_string(size(dimension)) + " in dimension " +
               std::to_string(dimension) + ", not " + std::to_string(expected));
}

static cudaStream_t current_stream(int32_t device)
{
    void *stream;

    require(aoti_torch_get_current_cuda_stream(device, &stream));
    return static_cast<cudaStream_t>(stream);
}

static int32_t library_dtype(int32_t dtype)
{
    return dtype == aoti_torch_dtype_float32()    ? MOE_ROUTING_F32
           : dtype == aoti_torch_dtype_float16()  ? MOE_ROUTING_F16
           : dtype == aoti_torch_dtype_bfloat16() ? MOE_ROUTING_BF16
           : dtype == aoti_torch_dtype_int32()    ? MOE_ROUTING_I32
                                                  : MOE_ROUTING_I64;
}

/* --- problems ----------------------------------------------------------------------------------------------------- */

enum { MESSAGE_BYTES = 256 };

static moe_routing_gate_problem gate_of(const tensor &gating_output, const tensor &correction_bias,
                                        const StableIValue *stack)
{
    const int32_t f32 = aoti_torch_dtype_float32(), own = gating_output.dtype(), device = gating_output.device();
    char message[MESSAGE_BYTES];

    gating_output.check("gating_output", {f32, aoti_torch_dtype_float16(), aoti_torch_dtype_bfloat16()}, 2, device);
    if (correction_bias) {
        correction_bias.check("correction_bias", {f32, own}, 1, device);
        correction_bias.check_size("correction_bias", 0, gating_output.size(1));
    }
    const moe_routing_gate_problem gate = {
        gating_output.size(0),
        integer_in(static_cast<StableIValue>(gating_output.size(1)), "number of experts"),
        integer_in(stack[2], "num_expert_group"),
        integer_in(stack[3], "topk_group"),
        integer_in(stack[4], "topk"),
        library_dtype(own),
        correction_bias ? library_dtype(correction_bias.dtype()) : -1,
        (stack[5] & 0xff) != 0,
        static_cast<float>(real_in(stack[6]))};

    if (moe_routing_gate_check(&gate, message, sizeof message))
        reject(message);
    return gate;
}

static moe_routing_align_problem align_of(int64_t numel, int32_t num_experts, StableIValue block_size, int32_t dtype)
{
    const moe_routing_align_problem align = {numel, num_experts, integer_in(block_size, "block_size"), dtype};
    char message[MESSAGE_BYTES];

    if (moe_routing_align_check(&align, message, sizeof message))
        reject(message);
    return align;
}

/* --- operators ---------------------------------------------------------------------------------------------------- */

// [gate]
/** Runs the gate. `stack` holds its arguments, then its results; the other parameters, their numbers, are unused. */
static void gate(StableIValue *stack, uint64_t, uint64_t)
{
    /* A word holds a number's bits or a tensor's handle, the address of PyTorch's description of the tensor. A `tensor`
       owns its handle and deletes it at the end of this function, even after an exception. None becomes NULL. */
    const tensor gating_output(handle_in(stack[0])), correction_bias(optional_handle_in(stack[1]));
    /* Reads the numbers from the other words, and checks them and the tensors. */
    const moe_routing_gate_problem problem = gate_of(gating_output, correction_bias, stack);
    const int32_t device = gating_output.device();
    tensor weights(aoti_torch_dtype_float32(), device, {problem.num_tokens, problem.topk});
    tensor ids(aoti_torch_dtype_int32(), device, {problem.num_tokens, problem.topk});

    /* If the library's call fails, `launched` throws an exception, which PyTorch turns into a Python exception.
       `static_cast<T>(x)` is x converted to the type T. */
    launched(moe_routing_gate(&problem, device, current_stream(device), gating_output.data(), correction_bias.data(),
                              static_cast<float *>(weights.data()), static_cast<int32_t *>(ids.data())));
    stack[0] = weights.release(); /* removes the handle from `weights`, because a result's handle belongs to PyTorch */
    stack[1] = ids.release();
}
// [gate]

static void align(StableIValue *stack, uint64_t, uint64_t)
{
    const tensor topk_ids(handle_in(stack[0]));
    const int32_t device = topk_ids.device(), i32 = aoti_torch_dtype_int32();

    topk_ids.check("topk_ids", {i32, aoti_torch_dtype_int64()}, 2, device);
    const moe_routing_align_problem problem = align_of(topk_ids.numel(), integer_in(stack[1], "num_experts"), stack[2],
                                                       library_dtype(topk_ids.dtype()));
    const int64_t capacity = moe_routing_capacity(&problem);
    tensor rows(i32, device, {capacity}), owners(i32, device, {capacity / problem.block_size}), total(i32, device, {1});

    launched(moe_routing_align(&problem, device, current_stream(device), topk_ids.data(),
                               static_cast<int32_t *>(rows.data()), static_cast<int32_t *>(owners.data()),
                               static_cast<int32_t *>(total.data())));
    stack[0] = rows.release();
    stack[1] = owners.release();
    stack[2] = total.release();
}

static void route(StableIValue *stack, uint64_t, uint64_t)
{
    const tensor gating_output(handle_in(stack[0])), correction_bias(optional_handle_in(stack[1]));
    const moe_routing_gate_problem problem = gate_of(gating_output, correction_bias, stack);
    const moe_routing_align_problem list = align_of(problem.num_tokens * problem.topk, problem.num_experts, stack[7],
                                                    MOE_ROUTING_I32);
    const int64_t capacity = moe_routing_capacity(&list);
    const int32_t device = gating_output.device(), i32 = aoti_torch_dtype_int32();
    tensor weights(aoti_torch_dtype_float32(), device, {problem.num_tokens, problem.topk});
    tensor ids(i32, device, {problem.num_tokens, problem.topk});
    tensor rows(i32, device, {capacity}), owners(i32, device, {capacity / list.block_size}), total(i32, device, {1});

    launched(moe_routing_route(&problem, list.block_size, device, current_stream(device), gating_output.data(),
                               correction_bias.data(), static_cast<float *>(weights.data()),
                               static_cast<int32_t *>(ids.data()), static_cast<int32_t *>(rows.data()),
                               static_cast<int32_t *>(owners.data()), static_cast<int32_t *>(total.data())));
    stack[0] = weights.release();
    stack[1] = ids.release();
    stack[2] = rows.release();
    stack[3] = owners.release();
    stack[4] = total.release();
}

static moe_routing_layer_problem layer_of(const tensor &hidden, const tensor &w13, const tensor &w2, const tensor &ids,
                                          const tensor &weights)
{
    const int32_t bf16 = aoti_torch_dtype_bfloat16(), device = hidden.device();
    char message[MESSAGE_BYTES];

    hidden.check("hidden", {bf16}, 2, device);
    w13.check("w13", {bf16}, 3, device);
    w2.check("w2", {bf16}, 3, device);
    ids.check("topk_ids", {aoti_torch_dtype_int32(), aoti_torch_dtype_int64()}, 2, device);
    weights.check("topk_weights", {aoti_torch_dtype_float32()}, 2, device);
    w13.check_size("w13", 0, w2.size(0));
    w13.check_size("w13", 1, 2 * w2.size(2));
    w13.check_size("w13", 2, w2.size(1));
    hidden.check_size("hidden", 1, w2.size(1));
    ids.check_size("topk_ids", 0, hidden.size(0));
    weights.check_size("topk_weights", 0, hidden.size(0));
    weights.check_size("topk_weights", 1, ids.size(1));
    const auto size = [](const tensor &one, int64_t dimension) {
        return integer_in(static_cast<StableIValue>(one.size(dimension)), "a tensor's size");
    };
    const moe_routing_layer_problem layer = {hidden.size(0), size(w2, 1),  size(w2, 2),
                                             size(w2, 0),    size(ids, 1), library_dtype(ids.dtype())};

    if (moe_routing_layer_check(&layer, message, sizeof message))
        reject(message);
    return layer;
}

static void layer(StableIValue *stack, uint64_t, uint64_t)
{
    const tensor hidden(handle_in(stack[0])), w13(handle_in(stack[1])), w2(handle_in(stack[2])),
        ids(handle_in(stack[3])), weights(handle_in(stack[4]));
    const moe_routing_layer_problem problem = layer_of(hidden, w13, w2, ids, weights);
    const int32_t device = hidden.device();
    tensor output(aoti_torch_dtype_bfloat16(), device, {problem.num_tokens, problem.hidden_size});
    const tensor scratch(aoti_torch_dtype_uint8(), device, {static_cast<int64_t>(moe_routing_layer_scratch(&problem))});

    launched(moe_routing_layer(&problem, device, current_stream(device), hidden.data(), w13.data(), w2.data(),
                               ids.data(), static_cast<const float *>(weights.data()), output.data(), scratch.data()));
    stack[0] = output.release();
}

// [register]
/** Adds the implementations to the operators that moe_routing.py has defined, when the library is loaded. */
__attribute__((constructor)) static void register_operators()
{
    TorchLibraryHandle library; /* lives as long as the process */

    if (aoti_torch_library_init_impl("moe_routing", "CUDA", __FILE__, __LINE__, &library) ||
        aoti_torch_library_impl(library, "gate", gate) || aoti_torch_library_impl(library, "align", align) ||
        aoti_torch_library_impl(library, "route", route) || aoti_torch_library_impl(library, "layer", layer))
        fputs("moe_routing: PyTorch does not accept the operators of libmoe_routing_torch.so\n", stderr);
}
// [register]
