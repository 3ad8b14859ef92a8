// Files that replace another one once they are complete.
#ifndef ONEFLOW_FILES_OUTPUT_FILE_H_
#define ONEFLOW_FILES_OUTPUT_FILE_H_

#include <cstdint>
#include <string>

namespace oneflow::files {

// A new file under a temporary name in the folder of `path`. commit() gives it the name `path`; without that, it is
// removed. Readers of `path` see the previous file or the complete new one, also after the process or the system was
// stopped at any point. A process that is killed leaves the temporary file, ".oneflow-<random>.tmp".
class OutputFile {
 public:
  // Creates the file. If `path` is a symbolic link, the file that it refers to will be replaced. Throws FileError if
  // the folder cannot be written to, or if `path` is a file that cannot be written to or is not a regular file.
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  // Returns how many bytes were written.
  uint64_t position() const { return position_; }
  // Appends bytes. Throws FileError, for example if the disk is full.
  void write(const void* data, uint64_t bytes);
  void write(const std::string& text) { write(text.data(), text.size()); }
  // Replaces bytes that were written.
  void rewrite(uint64_t offset, const std::string& text);
  // Waits until the content is on the disk, and renames the file.
  void commit();

 private:
  void write_at(uint64_t offset, const void* data, uint64_t bytes);

  const std::string given_path_;
  std::string path_, temporary_;  // `path` without symbolic links; empty once the file was renamed
  int descriptor_ = -1;
  uint64_t position_ = 0;
};

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_OUTPUT_FILE_H_
