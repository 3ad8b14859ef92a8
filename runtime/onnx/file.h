// The files of a model. They are read, not mapped: a file that another program truncates would end the process.
#ifndef ONEFLOW_ONNX_FILE_H_
#define ONEFLOW_ONNX_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace oneflow::onnx {

// A regular file that is open for reading.
class ReadFile {
 public:
  // Throws FileError if the system cannot read it, or it is not a regular file.
  explicit ReadFile(const std::string& path);
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;
  ~ReadFile();

  // Returns the size in bytes when the file was opened.
  uint64_t size() const { return size_; }
  // Fills memory with the bytes from a position. Throws FileError if the file has become shorter.
  void read(uint64_t offset, std::span<char> destination) const;

 private:
  const std::string path_;
  int file_;
  uint64_t size_ = 0;
};

// Memory of whole pages.
class Pages {
 public:
  explicit Pages(size_t size);
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages();

  size_t size() const { return size_; }
  std::span<char> bytes() const { return {memory_, size_}; }
  // Gives the memory of a range back, which is not read again. Does nothing for other memory.
  void release(std::span<const char> range) const;

 private:
  char* memory_ = nullptr;
  const size_t size_;
};

// A range of a file.
struct ExternalRange {
  const ReadFile& file;
  uint64_t offset, bytes;
};

// A model's file, and those beside it that hold elements of its tensors.
class ModelFiles {
 public:
  explicit ModelFiles(const std::string& path);

  std::span<const char> model() const { return model_->bytes(); }
  // Gives the memory of a range of the model's file back, which is not read again.
  void release(std::span<const char> range) const { model_->release(range); }
  // Returns a range of a file, whose path is relative to the model's folder and does not leave it, nor through a link.
  // Without a length, the range extends to the end. Throws InvalidArgument for a range outside the file.
  ExternalRange external(std::string_view location, uint64_t offset, const uint64_t* length);
  // Returns the size of all files that are open, in bytes.
  uint64_t bytes() const;

 private:
  const ReadFile& external_file(std::string_view location);

  const std::string path_;
  const std::unique_ptr<const Pages> model_;
  std::map<std::string, std::unique_ptr<ReadFile>, std::less<>> others_;
};

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_FILE_H_
