// Creates and reads small tensors on any device, for tests.
#ifndef ONEFLOW_TESTS_SUPPORT_TEST_TENSORS_H_
#define ONEFLOW_TESTS_SUPPORT_TEST_TENSORS_H_

#include <string>
#include <vector>

#include "base/scalar.h"
#include "device/device.h"
#include "tensor/create.h"
#include "tensor/tensor.h"
#include "tensor/transfer.h"

namespace oneflow {

// Creates a tensor from row-major elements of the dtype.
inline TensorRef make_tensor(const Shape& sizes, const void* data, uint64_t bytes, of_dtype dtype, of_device device) {
  of_tensor_source source{};
  source.dtype = dtype;
  source.device = device;
  source.rank = sizes.rank();
  source.sizes = sizes.data();
  source.data = const_cast<void*>(data);
  source.bytes = bytes;
  return create_tensor(source);
}

// Creates a tensor from row-major numbers, which are converted to the dtype.
inline TensorRef make_tensor(const Shape& sizes, const std::vector<double>& elements, of_dtype dtype = OF_FLOAT32,
                             of_device device = {0, 0}) {
  const int64_t width = dtype_size(dtype);
  std::vector<char> memory(elements.size() * width + 1);
  for (size_t i = 0; i < elements.size(); ++i)
    write_element(memory.data() + i * width, dtype, float_scalar(elements[i]));
  return make_tensor(sizes, memory.data(), elements.size() * width, dtype, device);
}

// Returns all elements in row-major order.
inline std::vector<double> values(const Tensor& tensor) {
  std::vector<char> memory(tensor.bytes() + 1);
  read_elements(tensor, memory.data());
  std::vector<double> result(tensor.count());
  for (int64_t i = 0; i < tensor.count(); ++i)
    result[i] = to_double(read_element(memory.data() + i * tensor.element_bytes(), tensor.dtype()));
  return result;
}

// Returns a device of the test plugin `far`, whose memory the host cannot access. The first call loads the plugin.
inline of_device far_device(int index = 0) {
  static const of_device first = [] {
    load_device_plugin(std::string(PLUGIN_DIR) + "/far.so");
    return parse_device("far:0");
  }();
  return {first.type, static_cast<int16_t>(index)};
}

}  // namespace oneflow

#endif  // ONEFLOW_TESTS_SUPPORT_TEST_TENSORS_H_
