#include "communicator.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <new>
#include <thread>

#include "device.h"
#include "nccl.h"

namespace oneflow::cuda {
namespace {

using Clock = std::chrono::steady_clock;

struct Communicator {
  of_device device;
  uint32_t rank, size;
  nccl::Communicator handle = nullptr;
};

Communicator& communicator_of(of_device_communicator handle) { return *reinterpret_cast<Communicator*>(handle); }

const nccl::Library& lib() { return *nccl::library(); }

struct Element {
  of_dtype dtype;
  nccl::Type type;
  uint64_t bytes;
};
constexpr Element kElements[] = {
    {OF_UINT8, nccl::kUint8, 1},     {OF_INT8, nccl::kInt8, 1},         {OF_INT32, nccl::kInt32, 4},
    {OF_UINT32, nccl::kUint32, 4},   {OF_INT64, nccl::kInt64, 8},       {OF_UINT64, nccl::kUint64, 8},
    {OF_FLOAT16, nccl::kFloat16, 2}, {OF_BFLOAT16, nccl::kBfloat16, 2}, {OF_FLOAT32, nccl::kFloat32, 4},
    {OF_FLOAT64, nccl::kFloat64, 8},
};

// Returns NULL for a dtype that the library does not reduce.
const Element* element_of(of_dtype dtype) {
  const auto* const found = std::ranges::find(kElements, dtype, &Element::dtype);
  return found == std::end(kElements) ? nullptr : found;
}

nccl::Reduction operation_of(of_reduction reduction) {
  switch (reduction) {
    case OF_REDUCTION_PRODUCT:
      return nccl::kProduct;
    case OF_REDUCTION_MIN:
      return nccl::kMin;
    case OF_REDUCTION_MAX:
      return nccl::kMax;
    case OF_REDUCTION_MEAN:
      return nccl::kMean;
    default:
      return nccl::kSum;
  }
}

// Calls of a communicator that does not wait may go on in a thread of the library, whose failure poll() finds.
of_status check_call(of_device device, nccl::Result result) {
  if (result == nccl::kSuccess || result == nccl::kInProgress) return OF_OK;
  const char* const hint = result == nccl::kInvalidUsage ? "; each rank needs a GPU of its own" : "";
  return grid::fail(OF_DEVICE_ERROR, "cuda:%d: NCCL: %s%s", device.index, lib().ncclGetErrorString(result), hint);
}

const char* version() {
  if (nccl::library() != nullptr) return nccl::version();
  grid::fail(OF_UNSUPPORTED, "%s", nccl::why_none());
  return nullptr;
}

bool can_reduce(of_dtype dtype, of_reduction) { return element_of(dtype) != nullptr; }

of_status make_id(of_device_communicator_id* id) {
  static_assert(sizeof(nccl::Id) == sizeof *id);
  nccl::Id made{};
  const nccl::Result result = lib().ncclGetUniqueId(&made);
  std::memcpy(id, &made, sizeof made);
  return result == nccl::kSuccess ? OF_OK : grid::fail(OF_DEVICE_ERROR, "NCCL: %s", lib().ncclGetErrorString(result));
}

void abort(of_device_communicator handle) {
  Communicator& own = communicator_of(handle);
  {
    const OnDevice on(own.device);
    if (on.status() == OF_OK && own.handle != nullptr) lib().ncclCommAbort(own.handle);
  }
  delete &own;
}

of_status open(of_device device, const of_device_communicator_id* id, uint32_t rank, uint32_t size,
               of_device_communicator* communicator) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return on.status();
  auto* const own = new (std::nothrow) Communicator{device, rank, size};
  if (own == nullptr) return grid::fail(OF_OUT_OF_MEMORY, "cuda:%d: no memory for a communicator", device.index);
  nccl::Id given;
  std::memcpy(&given, id, sizeof given);
  nccl::Config config;
  *communicator = reinterpret_cast<of_device_communicator>(own);
  const of_status status = check_call(device, lib().ncclCommInitRankConfig(&own->handle, static_cast<int>(size), given,
                                                                           static_cast<int>(rank), &config));
  if (status != OF_OK) abort(*communicator);
  return status;
}

of_status poll(of_device_communicator handle, bool* is_ready) {
  const Communicator& own = communicator_of(handle);
  nccl::Result state = nccl::kSuccess;
  const nccl::Result result = lib().ncclCommGetAsyncError(own.handle, &state);
  *is_ready = result == nccl::kSuccess && state == nccl::kSuccess;
  return check_call(own.device, result == nccl::kSuccess ? state : result);
}

void close(of_device_communicator handle) {
  Communicator& own = communicator_of(handle);
  bool is_final = false;
  {
    const OnDevice on(own.device);
    if (on.status() == OF_OK && check_call(own.device, lib().ncclCommFinalize(own.handle)) == OF_OK) {
      const auto end = Clock::now() + std::chrono::seconds(1);
      while (poll(handle, &is_final) == OF_OK && !is_final && Clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (is_final) lib().ncclCommDestroy(own.handle);
  }
  if (!is_final) return abort(handle);
  delete &own;
}

// Calls what submits work, as one group.
template <class Submit>
of_status submit(of_device_communicator handle, of_device_stream stream, Submit&& submit) {
  const Communicator& own = communicator_of(handle);
  const OnDevice on(own.device);
  if (on.status() != OF_OK) return on.status();
  nccl::Result result = lib().ncclGroupStart();
  if (result != nccl::kSuccess) return check_call(own.device, result);
  result = submit(own, stream_of(stream).queue);
  const nccl::Result end = lib().ncclGroupEnd();
  const bool is_begun = result == nccl::kSuccess || result == nccl::kInProgress;
  return check_call(own.device, is_begun ? end : result);
}

// Calls each(rank) for all ranks, up to the first failure.
template <class Each>
nccl::Result for_each_rank(const Communicator& own, Each&& each) {
  nccl::Result result = nccl::kSuccess;
  for (uint32_t rank = 0; rank < own.size && (result == nccl::kSuccess || result == nccl::kInProgress); ++rank)
    result = each(static_cast<int>(rank));
  return result;
}

bool are_equal(const uint64_t* counts, uint32_t size) {
  return std::all_of(counts, counts + size, [=](uint64_t each) { return each == counts[0]; });
}

of_status reduce(of_device_communicator communicator, int32_t root, const void* input, void* output, uint64_t count,
                 of_dtype dtype, of_reduction reduction, of_device_stream stream) {
  return submit(communicator, stream, [&](const Communicator& own, cudaStream_t queue) {
    const nccl::Type type = element_of(dtype)->type;
    const nccl::Reduction by = operation_of(reduction);
    return root < 0 ? lib().ncclAllReduce(input, output, count, type, by, own.handle, queue)
                    : lib().ncclReduce(input, output, count, type, by, root, own.handle, queue);
  });
}

of_status reduce_scatter(of_device_communicator communicator, const void* input, void* output, const uint64_t* counts,
                         of_dtype dtype, of_reduction reduction, of_device_stream stream) {
  return submit(communicator, stream, [&](const Communicator& own, cudaStream_t queue) {
    const nccl::Type type = element_of(dtype)->type;
    const nccl::Reduction by = operation_of(reduction);
    if (are_equal(counts, own.size))
      return lib().ncclReduceScatter(input, output, counts[0], type, by, own.handle, queue);
    const auto* part = static_cast<const char*>(input);
    return for_each_rank(own, [&](int root) {
      const auto* const from = part;
      part += counts[root] * element_of(dtype)->bytes;
      return counts[root] == 0 ? nccl::kSuccess
                               : lib().ncclReduce(from, output, counts[root], type, by, root, own.handle, queue);
    });
  });
}

of_status all_gather(of_device_communicator communicator, const void* input, void* output, const uint64_t* bytes,
                     of_device_stream stream) {
  return submit(communicator, stream, [&](const Communicator& own, cudaStream_t queue) {
    if (are_equal(bytes, own.size))
      return lib().ncclAllGather(input, output, bytes[0], nccl::kUint8, own.handle, queue);
    auto* part = static_cast<char*>(output);
    return for_each_rank(own, [&](int root) {
      auto* const to = part;
      part += bytes[root];
      return bytes[root] == 0 ? nccl::kSuccess
                              : lib().ncclBroadcast(input, to, bytes[root], nccl::kUint8, root, own.handle, queue);
    });
  });
}

of_status broadcast(of_device_communicator communicator, int32_t root, const void* input, void* output, uint64_t bytes,
                    of_device_stream stream) {
  return submit(communicator, stream, [&](const Communicator& own, cudaStream_t queue) {
    return lib().ncclBroadcast(input, output, bytes, nccl::kUint8, root, own.handle, queue);
  });
}

of_status exchange(of_device_communicator communicator, const void* const* inputs, const uint64_t* sent_bytes,
                   void* const* outputs, const uint64_t* received_bytes, of_device_stream stream) {
  return submit(communicator, stream, [&](const Communicator& own, cudaStream_t queue) {
    return for_each_rank(own, [&](int rank) {
      nccl::Result result = nccl::kSuccess;
      if (sent_bytes[rank] > 0)
        result = lib().ncclSend(inputs[rank], sent_bytes[rank], nccl::kUint8, rank, own.handle, queue);
      if (received_bytes[rank] > 0 && (result == nccl::kSuccess || result == nccl::kInProgress))
        result = lib().ncclRecv(outputs[rank], received_bytes[rank], nccl::kUint8, rank, own.handle, queue);
      return result;
    });
  });
}

}  // namespace

const of_communicator_hooks kCommunicator = {
    sizeof(of_communicator_hooks),
    version,
    identify,
    can_reduce,
    make_id,
    open,
    poll,
    abort,
    close,
    reduce,
    reduce_scatter,
    all_gather,
    broadcast,
    exchange,
};

}  // namespace oneflow::cuda
