#include "parallel/access.h"

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

TensorRef reach(const Tensor& tensor, of_device device) {
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

void move(const char* caller, const Tensor& target, const Tensor& source) {
  if (target.count() == 0) return;
  target.mutable_data();
  const TensorRef near = reach(source, target.device());
  const TensorRef far = near ? TensorRef() : reach(target, source.device());
  if (near || far) {
    const of_device both[] = {target.device(), source.device()};
    join_streams(both);  // what the kernel reads is there
    if (near)
      call_into(caller, target, *kCopy, target, near);
    else
      call_into(caller, *far, *kCopy, far, source);
    return join_streams(both);  // and stays until it was read
  }
  const TensorRef sent = packed(caller, source);
  const auto bytes = static_cast<uint64_t>(sent->bytes());
  const TensorRef landed =
      target.is_contiguous() ? share(target) : Tensor::allocate(target.sizes(), target.dtype(), target.device());
  copy_bytes(landed->device(), landed->mutable_data(), sent->device(), sent->data(), bytes);
  if (landed.get() != &target) call_into(caller, target, *kCopy, target, landed);
}

void join_streams(std::span<const of_device> devices) {
  // Devices of different types never reach each other's memory, and copies between them wait for both.
  std::vector<of_device> unique;
  for (const of_device id : devices)
    if (get_device(id).stream() &&
        std::none_of(unique.begin(), unique.end(), [&](of_device each) { return each == id; }))
      unique.push_back(id);
  for (const of_device id : unique)
    for (const of_device other : unique)
      if (id.type == other.type && id.index != other.index) get_device(id).depend_on(get_device(other));
}

}  // namespace oneflow::collective
