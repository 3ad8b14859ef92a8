// Plans of matrix products: the descriptors and the algorithm that cuBLASLt needs, cached for each shape.
#ifndef ONEFLOW_DEVICES_CUDA_LT_PLANS_H_
#define ONEFLOW_DEVICES_CUDA_LT_PLANS_H_

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "cublaslt.h"
#include "device.h"
#include "matrix_product.h"

namespace oneflow::cuda {

// The plan for products of one shape.
struct Plan {
  ~Plan();

  lt::Description description = nullptr;
  lt::Layout a = nullptr, b = nullptr, d = nullptr;
  lt::Algorithm algorithm;
  size_t workspace = 0;
  std::atomic<bool> is_supported = false;  // whether the library has an algorithm for the shape
};

// The plans of one device. When there are too many, all of them are dropped.
class Plans {
 public:
  // Must be held during calls of the other functions, and while a plan with a bias is in use, as the address of the
  // bias is an attribute of its description.
  std::mutex& mutex() { return mutex_; }
  // Returns the library's handle, or NULL if the library cannot be used on this device.
  lt::Handle handle(const lt::Library& library);
  // Returns the plan for a shape, which may be one that the library does not support.
  std::shared_ptr<Plan> plan_for(const lt::Library& library, const Shape& shape);

 private:
  struct Same {
    bool operator()(const Shape& a, const Shape& b) const { return std::memcmp(&a, &b, sizeof a) == 0; }
  };
  struct Hash {
    size_t operator()(const Shape& shape) const {
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(&shape), sizeof shape});
    }
  };
  static constexpr size_t kMost = 1024;

  std::mutex mutex_;
  lt::Handle handle_ = nullptr;
  bool was_tried_ = false;
  std::unordered_map<Shape, std::shared_ptr<Plan>, Hash, Same> plans_;
};

Plans& plans_of(of_device device);

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_LT_PLANS_H_
