// Four functions in C++, which the packages beside this file offer to Python, Node.js and Ruby.
#pragma once

#include <atomic>
#include <cmath>
#include <memory>
#include <oneflow/oneflow.hpp>
#include <optional>
#include <string>
#include <vector>

namespace extras {

namespace flow = oneflow;

/// Returns scale * tanh(input) in one pass over the memory. Throws DeviceError for devices other than the CPU, and
/// DTypeError for dtypes other than float32. Gradients do not pass through it: it is no operator.
inline flow::Tensor scaled_tanh(const flow::Tensor& input, double scale) {
  const std::string device = input.device().name();
  if (device.rfind("cpu:", 0) != 0) throw flow::DeviceError("scaled_tanh: input must be on the CPU, got " + device);
  if (input.dtype() != flow::float32) {
    throw flow::DTypeError(std::string("scaled_tanh: input must be float32, got ") + of_dtype_name(input.dtype()));
  }
  const flow::Tensor source = input.contiguous();
  flow::Tensor result = flow::empty(flow::Ints(std::vector(source.sizes().begin(), source.sizes().end())),
                                    flow::float32, source.device());
  const float* from = source.data<float>();
  float* to = result.mutable_data<float>();
  for (int64_t i = 0; i < source.count(); ++i) to[i] = static_cast<float>(scale * std::tanh(from[i]));
  return result;
}

/// Returns the input with mean 0 and standard deviation 1 over a dimension. It calls operators, so that it runs on all
/// devices and has gradients.
inline flow::Tensor standardize(const flow::Tensor& input, int64_t dim) {
  const flow::Tensor centred = input - input.mean(dim, true);
  return centred / centred.std(dim, 0, true);
}

/// Returns normal random numbers around the elements of the input, from a generator or the default one.
inline flow::Tensor noisy(const flow::Tensor& input, double deviation,
                          const std::optional<flow::Generator>& generator) {
  return flow::normal(input, deviation, generator);
}

/// The number of tables that squares() has made and that are still in use.
inline std::atomic<int64_t> tables{0};

/// Returns the first squares as an int64 tensor over memory of this module, which is freed with the last tensor that
/// uses it.
inline flow::Tensor squares(int64_t count) {
  if (count < 0) throw flow::InvalidArgument("squares: count must not be negative, got " + std::to_string(count));
  auto table = std::make_shared<std::vector<int64_t>>();
  for (int64_t i = 0; i < count; ++i) table->push_back(i * i);
  void* memory = table->data();
  flow::Tensor result =
      flow::Tensor::share(flow::int64, memory, sizeof(int64_t) * table->size(), {count}, [table] { --tables; });
  ++tables;
  return result;
}

}  // namespace extras
