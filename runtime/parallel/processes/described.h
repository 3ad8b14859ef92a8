// What a rank calls, which must be the same on all ranks of a group.
#ifndef ONEFLOW_PARALLEL_PROCESSES_DESCRIBED_H_
#define ONEFLOW_PARALLEL_PROCESSES_DESCRIBED_H_

#include <array>
#include <cstdint>
#include <string>

#include "base/shape.h"
#include "dispatch/schema.h"

namespace oneflow {
struct Call;
}

namespace oneflow::processes {

class Described {
 public:
  // Describes a call. `free_dim` is a dimension of the tensor in which ranks may differ; -1: none. `device_type` is the
  // type of the devices between which tensors travel; "": none.
  Described(const Call& call, int free_dim, const char* device_type);
  // Describes one side of a transfer between two ranks, which agree if the tensors are alike.
  static Described transfer(const Call& call, const char* device_type);
  // Describes a call without arguments.
  explicit Described(const char* name);

  // Returns a number by which ranks compare their calls.
  uint64_t hash() const { return hash_; }
  // Returns the call as a text: "comm.all_reduce(float32 [3, 4], op='sum')".
  std::string text() const;

 private:
  static constexpr size_t kMostIntegers = 4;

  void add(int64_t value);
  void add(const char* text);

  const char* name_;
  const char* device_type_ = "";
  const Schema* schema_ = nullptr;  // NULL: there are no arguments
  of_dtype dtype_{};
  Shape sizes_;      // with -1 for the free dimension
  int variant_ = 0;  // of the attribute that the operator matches
  std::array<int64_t, kMostIntegers> integers_{};
  uint64_t hash_;
};

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_DESCRIBED_H_
