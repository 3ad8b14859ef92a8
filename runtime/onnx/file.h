// Files in memory.
#ifndef ONEFLOW_ONNX_FILE_H_
#define ONEFLOW_ONNX_FILE_H_

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace oneflow::onnx {

// A file that is mapped for reading.
class MappedFile {
 public:
  // Throws FileError if the system cannot read it.
  explicit MappedFile(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const char> bytes() const { return {memory_, size_}; }
  // Lets the system take the memory of a range that will hardly be read again. Does nothing for other memory.
  void release(std::span<const char> range) const;

 private:
  const char* memory_ = nullptr;
  size_t size_ = 0;
};

// A model's file, and those beside it that hold elements of its tensors.
class ModelFiles {
 public:
  explicit ModelFiles(const std::string& path);

  std::span<const char> model() const { return model_.bytes(); }
  // Returns a range of a file, whose path is relative to the model's folder and does not leave it. Without a length,
  // the range extends to the end. Throws InvalidArgument for a range outside the file.
  std::span<const char> external(std::string_view location, uint64_t offset, const uint64_t* length);
  // See MappedFile.
  void release(std::span<const char> range) const;

 private:
  const std::string folder_;
  const MappedFile model_;
  std::map<std::string, std::unique_ptr<MappedFile>, std::less<>> others_;
};

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_FILE_H_
