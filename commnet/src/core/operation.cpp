#include "core/operation.h"

#include <cstring>

#include "core/endpoint.h"
#include "core/settings.h"
#include "core/status.h"

namespace commnet {

thread_local const Operation* Operation::running = nullptr;

Operation::Operation(std::shared_ptr<Endpoint> owner, Kind what, const cn_call* given)
    : endpoint(std::move(owner)), kind(what) {
  if (!given) return;
  cn_call call{};
  if (!is_struct_size(given->struct_size, call))
    fail(CN_INVALID_ARGUMENT, "call: struct_size is %u, expected %zu", given->struct_size, sizeof call);
  std::memcpy(&call, given, given->struct_size);
  if ((call.flags & ~uint32_t{CN_EVENT | CN_COPY}) != 0)
    fail(CN_INVALID_ARGUMENT, "call: unknown flags %u", call.flags);
  if (call.done && call.flags & CN_EVENT)
    fail(CN_INVALID_ARGUMENT, "call: an operation has either a function or an event at its end");
  if (call.queue && call.queue->queue->endpoint() != endpoint)
    fail(CN_INVALID_ARGUMENT, "call: the queue belongs to another endpoint");
  done = call.done;
  user = call.user;
  flags = call.flags;
  if (call.queue) queue = call.queue->queue;
  if (call.timeout_ms > 0) deadline = Clock::now() + std::chrono::milliseconds(call.timeout_ms);
}

}  // namespace commnet
