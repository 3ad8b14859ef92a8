// Open files of tensors as objects.
#ifndef ONEFLOW_OBJECTS_TENSOR_FILE_H_
#define ONEFLOW_OBJECTS_TENSOR_FILE_H_

#include <oneflow/files.h>

#include "base/ref.h"
#include "objects/handle.h"

namespace oneflow::objects {

using OpenFile = Owned<of_file, of_file_release>;

// A file that one thread may close while others read.
class TensorFile : public RefCounted<TensorFile> {
 public:
  explicit TensorFile(OpenFile file) : file_(std::move(file)) {}

  // Returns a reference to the file; NULL once it is closed.
  OpenFile file() const;
  void close();
  // Returns the file in its present state, for a call on another thread.
  TensorFile* snapshot() const { return new TensorFile(file()); }

  void destroy() { delete this; }

 private:
  OpenFile file_;
};

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_TENSOR_FILE_H_
