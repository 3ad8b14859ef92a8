// What is saved to a file.
#ifndef ONEFLOW_FILES_DOCUMENT_H_
#define ONEFLOW_FILES_DOCUMENT_H_

#include <memory>
#include <string>
#include <vector>

#include "files/contents.h"
#include "tensor/tensor.h"

namespace oneflow::files {

// A tensor with its name in the file.
struct Item {
  std::string name;
  TensorRef tensor;
};

struct Document {
  std::vector<Item> items;
  Metadata metadata;
  std::string structure;  // see structure.h
  bool compress = false;
};

// The elements of a tensor in row-major order in host memory: its own memory or a copy. The tensor must outlive this
// object.
class RowMajorElements {
 public:
  // Waits for pending work, and throws its error.
  explicit RowMajorElements(const Tensor& tensor);
  const char* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<char[]> copy_;
  const char* data_ = nullptr;
  uint64_t bytes_;
};

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_DOCUMENT_H_
