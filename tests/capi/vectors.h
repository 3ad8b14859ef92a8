// The values of conformance vectors (docs/architecture.md) as arguments of of_call() and as results to compare with.
#ifndef ONEFLOW_TESTS_CAPI_VECTORS_H_
#define ONEFLOW_TESTS_CAPI_VECTORS_H_

#include <oneflow/oneflow.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace vectors {

struct Release {
  void operator()(of_tensor tensor) const { of_tensor_release(tensor); }
};
using TensorPtr = std::unique_ptr<of_tensor_object, Release>;

// Throws std::runtime_error with the library's text.
void check(of_status status);

// One argument, with everything that its of_value points to.
class Argument {
 public:
  // `type` is the argument's type as the signature writes it.
  Argument(const nlohmann::json& value, const std::string& type);

  of_value value() const;

 private:
  int32_t kind_ = OF_VALUE_NONE;
  bool boolean_ = false;
  int64_t integer_ = 0;
  double real_ = 0;
  of_dtype dtype_ = OF_FLOAT32;
  std::string text_;
  std::vector<int64_t> integers_;
  std::vector<TensorPtr> tensors_;
  std::vector<of_tensor> handles_;
  std::vector<of_device> devices_;
};

// A tensor of the expected result's shape and type to be written to; its content is not the result.
TensorPtr make_target(const nlohmann::json& expected);

// What is wrong with a result: shape, type, or the first element beyond the tolerances. Empty when nothing is.
std::string compare(of_tensor result, const nlohmann::json& expected, double relative, double absolute);

}  // namespace vectors

#endif  // ONEFLOW_TESTS_CAPI_VECTORS_H_
