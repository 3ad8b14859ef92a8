#include "parallel/local/access.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "device/copy.h"
#include "device/device.h"
#include "dispatch/dispatch.h"

namespace oneflow::collective {

namespace {

constinit const OperatorName kClone("clone");
constinit const OperatorName kCopy("copy");

}  // namespace

TensorRef accessible_from(const Tensor& tensor, of_device device) {
  if (tensor.device() == device) return share(tensor);
  if (!get_device(device).can_access(get_device(tensor.device()))) return {};
  const Span span = span_of(tensor.sizes(), tensor.strides(), tensor.dtype());
  char* first = static_cast<char*>(const_cast<void*>(tensor.data())) - span.before;
  Ref<Buffer> buffer = Buffer::adopt(device, first, static_cast<uint64_t>(span.bytes), false);
  return Tensor::over(Storage::create(std::move(buffer)), tensor.dtype(), tensor.sizes(), tensor.strides(),
                      span.before / tensor.element_bytes());
}

TensorRef packed(const char* caller, const Tensor& tensor) {
  if (tensor.is_contiguous()) return share(tensor);
  const of_value argument = to_value(tensor);
  of_value result{};
  call_inside(*kClone, caller, {&argument, 1}, {&result, 1}, false);
  return TensorRef::adopt(to_tensor(result.as.tensor));
}

void copy_elements(const char* caller, const Tensor& target, const Tensor& source) {
  if (target.count() == 0) return;
  target.mutable_data();  // makes shared memory unique
  const TensorRef near_source = accessible_from(source, target.device());
  const TensorRef near_target = near_source ? TensorRef() : accessible_from(target, source.device());
  if (near_source || near_target) {
    const of_device both[] = {target.device(), source.device()};
    join_streams(both);  // the kernel runs after the work that writes the source
    if (near_source)
      call_into(caller, target, *kCopy, target, near_source);
    else
      call_into(caller, *near_target, *kCopy, near_target, source);
    return join_streams(both);  // later work waits until the kernel has read the source
  }
  const TensorRef sent = packed(caller, source);
  const auto bytes = static_cast<uint64_t>(sent->bytes());
  const TensorRef received =
      target.is_contiguous() ? share(target) : Tensor::allocate(target.sizes(), target.dtype(), target.device());
  copy_bytes(received->device(), received->mutable_data(), sent->device(), sent->data(), bytes);
  if (received.get() != &target) call_into(caller, target, *kCopy, target, received);
}

void join_streams(std::span<const of_device> devices) {
  // Only devices of the same type can access each other's memory. Copies between types wait for both devices.
  std::vector<of_device> unique;
  for (const of_device id : devices)
    if (get_device(id).stream() &&
        std::none_of(unique.begin(), unique.end(), [&](of_device each) { return each == id; }))
      unique.push_back(id);
  for (const of_device id : unique)
    for (const of_device other : unique)
      if (id.type == other.type && id.index != other.index)
        get_device(id).current().depend_on(get_device(other).current());
}

}  // namespace oneflow::collective
