// Converts conformance vectors (see docs/reference/vectors.md) to arguments of of_call(), and compares results with
// them.
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

// Throws std::runtime_error with the library's error text unless the status is OF_OK.
void check(of_status status);

// An argument, which owns everything that its of_value points to.
class Argument {
 public:
  // `type` is the type of the argument as written in the signature.
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

// Returns a tensor to write to, with the shape and dtype of the expected result but other elements.
TensorPtr make_target(const nlohmann::json& expected);

// Compares a result with the expected one. Returns the description of a difference in dtype or shape, or of the first
// element beyond the tolerances; an empty string if there is none.
std::string compare(of_tensor result, const nlohmann::json& expected, double relative, double absolute);

}  // namespace vectors

#endif  // ONEFLOW_TESTS_CAPI_VECTORS_H_
