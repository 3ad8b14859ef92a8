#include "queue.h"

#include <sys/mman.h>

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "../grid/driver.h"
#include "device.h"

namespace oneflow::opencl {
namespace {

// The streams of each device: memory is freed after their work has finished.
std::mutex streams_mutex;
std::vector<Stream*> streams[kMostDevices];

// An event of the runtime, which may mark several points one after another.
struct Event {
  cl_event point = nullptr;  // the marker at the last point
};
Event& event_of(of_device_event event) { return *reinterpret_cast<Event*>(event); }

constexpr uintptr_t kHugePage = uintptr_t{2} << 20;

// Requests huge pages for large blocks of CPU devices, whose memory is host memory. Drivers need not align blocks to
// pages, so that the ends of a block remain in small pages.
void advise(void* memory, uint64_t bytes) {
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + bytes) / kHugePage * kHugePage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // advice only
}

}  // namespace

of_status allocate(of_device device, uint64_t bytes, void** memory) {
  if (const of_status status = check_process(); status != OF_OK) return status;
  *memory = clSVMAlloc(device_of(device).context, CL_MEM_READ_WRITE, bytes, 64);
  if (*memory != nullptr) {
    if (device_of(device).is_processor) advise(*memory, bytes);
    return OF_OK;
  }
  return grid::fail(OF_OUT_OF_MEMORY, "opencl:%d: no memory for %llu bytes", device.index,
                    static_cast<unsigned long long>(bytes));
}

void deallocate(of_device device, void* memory, uint64_t) {
  if (check_process() != OF_OK) return;
  {
    const std::lock_guard lock(streams_mutex);
    for (const Stream* stream : streams[device.index]) clFinish(stream->queue);
  }
  clSVMFree(device_of(device).context, memory);
}

of_status copy(of_device device, void* destination, const void* source, uint64_t bytes, of_device_stream stream) {
  if (const of_status status = check_process(); status != OF_OK) return status;
  return check(device,
               clEnqueueSVMMemcpy(stream_of(stream).queue, CL_FALSE, destination, source, bytes, 0, nullptr, nullptr),
               "copy");
}

of_status fill(of_device device, void* destination, uint8_t value, uint64_t bytes, of_device_stream stream) {
  if (const of_status status = check_process(); status != OF_OK) return status;
  return check(device, clEnqueueSVMMemFill(stream_of(stream).queue, destination, &value, 1, bytes, 0, nullptr, nullptr),
               "fill memory");
}

of_status create_stream(of_device device, of_device_stream* stream) {
  if (const of_status status = check_process(); status != OF_OK) return status;
  cl_int code = CL_SUCCESS;
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};  // for elapsed_time()
  cl_command_queue queue =
      clCreateCommandQueueWithProperties(device_of(device).context, device_of(device).id, properties, &code);
  if (const of_status status = check(device, code, "create a queue"); status != OF_OK) return status;
  auto* made = new (std::nothrow) Stream;
  if (made == nullptr) {
    clReleaseCommandQueue(queue);
    return grid::fail(OF_OUT_OF_MEMORY, "opencl:%d: no memory for a stream", device.index);
  }
  made->queue = queue;
  const std::lock_guard lock(streams_mutex);
  streams[device.index].push_back(made);
  *stream = reinterpret_cast<of_device_stream>(made);
  return OF_OK;
}

of_status synchronize(of_device device, of_device_stream handle) {
  if (const of_status status = check_process(); status != OF_OK) return status;
  Stream& stream = stream_of(handle);
  if (!stream.may_have_failed.exchange(false)) return check(device, clFinish(stream.queue), "wait for the device");
  of_report report{};
  const of_report none{};
  of_status status = copy(device, &report, stream.report, sizeof report, handle);
  if (status == OF_OK) status = copy(device, stream.report, &none, sizeof none, handle);
  if (status == OF_OK) status = check(device, clFinish(stream.queue), "wait for the device");
  if (status == OF_OK && report.claimed != 0) status = grid::fail_as_reported(report);
  return status;
}

of_status create_event(of_device device, bool, of_device_event* event) {
  auto* made = new (std::nothrow) Event;
  if (made == nullptr) return grid::fail(OF_OUT_OF_MEMORY, "opencl:%d: no memory for an event", device.index);
  *event = reinterpret_cast<of_device_event>(made);
  return OF_OK;
}

void destroy_event(of_device, of_device_event event) {
  if (event_of(event).point != nullptr && check_process() == OF_OK) clReleaseEvent(event_of(event).point);
  delete &event_of(event);
}

of_status record_event(of_device device, of_device_event event, of_device_stream stream) {
  if (const of_status status = check_process(); status != OF_OK) return status;
  cl_event& point = event_of(event).point;
  if (point != nullptr) clReleaseEvent(point);
  point = nullptr;
  const cl_command_queue queue = stream_of(stream).queue;
  const of_status status = check(device, clEnqueueMarkerWithWaitList(queue, 0, nullptr, &point), "record an event");
  if (status == OF_OK) clFlush(queue);  // other queues may wait for it
  return status;
}

of_status wait_event(of_device device, of_device_event event, of_device_stream stream) {
  if (const of_status status = check_process(); status != OF_OK) return status;
  const cl_event& point = event_of(event).point;
  cl_int code = clEnqueueBarrierWithWaitList(stream_of(stream).queue, 1, &point, nullptr);
  if (code == CL_INVALID_CONTEXT) code = clWaitForEvents(1, &point);  // of another device: the host waits
  return check(device, code, "wait for an event");
}

of_status query_event(of_device device, of_device_event event, bool* is_done) {
  *is_done = true;
  if (const of_status status = check_process(); status != OF_OK) return status;
  const cl_event point = event_of(event).point;
  cl_int state = CL_COMPLETE;
  if (point == nullptr) return OF_OK;
  const cl_int code = clGetEventInfo(point, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  *is_done = state <= CL_COMPLETE;  // negative after a failure
  return check(device, code, "query an event");
}

of_status synchronize_event(of_device device, of_device_event event) {
  if (const of_status status = check_process(); status != OF_OK) return status;
  const cl_event& point = event_of(event).point;
  return point == nullptr ? OF_OK : check(device, clWaitForEvents(1, &point), "wait for an event");
}

of_status elapsed_time(of_device device, of_device_event start, of_device_event end, double* milliseconds) {
  if (const of_status status = check_process(); status != OF_OK) return status;
  cl_ulong times[2] = {};
  for (const auto& [event, time] : {std::pair(start, &times[0]), std::pair(end, &times[1])}) {
    const cl_int code =
        clGetEventProfilingInfo(event_of(event).point, CL_PROFILING_COMMAND_END, sizeof *time, time, nullptr);
    if (const of_status status = check(device, code, "read the time of its work"); status != OF_OK) return status;
  }
  *milliseconds = 1e-6 * (static_cast<double>(times[1]) - static_cast<double>(times[0]));
  return OF_OK;
}

}  // namespace oneflow::opencl

namespace oneflow::grid {

of_report* report(const of_kernel_context& context) {
  static std::mutex mutex;
  opencl::Stream& stream = opencl::stream_of(context.stream);
  const std::lock_guard lock(mutex);
  if (stream.report == nullptr) {
    void* memory = nullptr;
    if (opencl::allocate(context.device, sizeof(of_report), &memory) != OF_OK) return nullptr;
    if (opencl::fill(context.device, memory, 0, sizeof(of_report), context.stream) != OF_OK) return nullptr;
    stream.report = static_cast<of_report*>(memory);
  }
  stream.may_have_failed = true;
  return stream.report;
}

}  // namespace oneflow::grid
