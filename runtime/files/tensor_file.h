// A file of tensors that is open for reading.
#ifndef ONEFLOW_FILES_TENSOR_FILE_H_
#define ONEFLOW_FILES_TENSOR_FILE_H_

#include <oneflow/files.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ref.h"
#include "files/contents.h"
#include "files/structure.h"
#include "tensor/tensor.h"

// The type that an of_file points to.
struct of_file_object {};

namespace oneflow::files {

// A file of tensors. It does not change after creation.
class TensorFile final : public of_file_object, public RefCounted<TensorFile> {
 public:
  // Opens a file. Throws FileError, or InvalidArgument if the file is malformed.
  static Ref<TensorFile> open(const std::string& path);

  const std::vector<Entry>& entries() const { return contents_.entries; }
  // Returns the position of a tensor; -1 if there is none with the name.
  int64_t find(std::string_view name) const;
  // Returns the metadata; the pairs refer to this object.
  const std::vector<of_file_metadata>& metadata() const { return metadata_; }
  // Returns the data as it was saved, or a dictionary of all tensors. Throws InvalidArgument if the file says that it
  // was nested, but not how.
  const Tree& tree(bool flat) const;

  void destroy() noexcept { delete this; }

 private:
  explicit TensorFile(Contents contents);
  ~TensorFile() = default;

  const Contents contents_;
  std::unordered_map<std::string_view, size_t> positions_;
  std::vector<of_file_metadata> metadata_;
  std::optional<Tree> flat_, nested_;
  std::string structure_error_;  // why there is no nested tree
};

// Reads a tensor. With `copy`, it never shares the memory of the file. Throws DTypeError for an element type that does
// not exist here, FileError, or InvalidArgument if compressed data is damaged.
TensorRef read_tensor(const Entry& entry, of_device device, bool copy);

inline TensorFile* to_file(of_file handle) { return static_cast<TensorFile*>(handle); }

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_TENSOR_FILE_H_
