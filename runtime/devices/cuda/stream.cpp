#include "stream.h"

#include <new>

#include "../grid/driver.h"
#include "device.h"

namespace oneflow::cuda {
namespace {

cudaEvent_t event_of(of_event event) { return reinterpret_cast<cudaEvent_t>(event); }

// Switches slots: later kernels record errors in the other slot. Returns the previous one.
of_report& switch_slots(Stream& stream) { return stream.slots[stream.turn.fetch_add(1) & 1]; }

}  // namespace

of_status create_stream(of_device device, of_stream* stream) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return on.status();
  auto* made = new (std::nothrow) Stream;
  if (made == nullptr) return grid::fail(OF_OUT_OF_MEMORY, "cuda:%d: no memory for a stream", device.index);
  // A non-blocking stream does not wait for the default stream, which other libraries use.
  const of_status status =
      check(device, cudaStreamCreateWithFlags(&made->queue, cudaStreamNonBlocking), "create a stream");
  if (status == OF_OK) {
    is_in_use(device) = true;
    *stream = reinterpret_cast<of_stream>(made);
  } else {
    delete made;
  }
  return status;
}

of_status synchronize(of_device device, of_stream handle) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return on.status();
  Stream& stream = stream_of(handle);
  if (!stream.may_have_failed.exchange(false))
    return check(device, cudaStreamSynchronize(stream.queue), "finish its work");
  const std::lock_guard lock(stream.synchronizing);
  of_report& slot = switch_slots(stream);
  const of_status status = check(device, cudaStreamSynchronize(stream.queue), "finish its work");
  if (status != OF_OK || slot.claimed == 0) return status;
  const of_report report = slot;
  slot = of_report{};
  return grid::fail_as_reported(report);
}

of_status create_event(of_device device, of_event* event) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return on.status();
  cudaEvent_t made = nullptr;
  const of_status status = check(device, cudaEventCreate(&made), "create an event");
  *event = reinterpret_cast<of_event>(made);
  return status;
}

void destroy_event(of_device device, of_event event) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return;
  cudaEventDestroy(event_of(event));
  cudaGetLastError();
}

of_status record_event(of_device device, of_event event, of_stream stream) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return on.status();
  return check(device, cudaEventRecord(event_of(event), stream_of(stream).queue), "record an event");
}

of_status wait_event(of_device device, of_event event, of_stream stream) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return on.status();
  return check(device, cudaStreamWaitEvent(stream_of(stream).queue, event_of(event), 0), "wait for an event");
}

of_status elapsed(of_device device, of_event start, of_event end, double* nanoseconds) {
  const OnDevice on(device);
  if (on.status() != OF_OK) return on.status();
  float milliseconds = 0;
  const of_status status =
      check(device, cudaEventElapsedTime(&milliseconds, event_of(start), event_of(end)), "read the time of its work");
  *nanoseconds = 1e6 * static_cast<double>(milliseconds);
  return status;
}

}  // namespace oneflow::cuda

namespace oneflow::grid {

of_report* report(const of_kernel_context& context) {
  cuda::Stream& stream = cuda::stream_of(context.stream);
  if (stream.slots == nullptr) {
    const std::lock_guard lock(stream.synchronizing);
    if (stream.slots == nullptr) {
      const cuda::OnDevice on(context.device);
      if (on.status() != OF_OK) return nullptr;
      void* memory = nullptr;
      const cudaError_t code =
          cudaHostAlloc(&memory, 2 * sizeof(of_report), cudaHostAllocPortable | cudaHostAllocMapped);
      if (cuda::check(context.device, code, "page-lock host memory") != OF_OK) return nullptr;
      stream.slots = new (memory) of_report[2]{};
    }
  }
  // The flag is set after the slot is chosen, so that the error is found: by the synchronisation that sees the flag, or
  // by the next one that reads this slot.
  of_report* slot = &stream.slots[stream.turn & 1];
  stream.may_have_failed = true;
  return slot;
}

}  // namespace oneflow::grid
