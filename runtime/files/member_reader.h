// Reads the content of a member of a zip archive from its beginning to its end.
#ifndef ONEFLOW_FILES_MEMBER_READER_H_
#define ONEFLOW_FILES_MEMBER_READER_H_

#include <zlib.h>

#include <memory>

#include "files/contents.h"

namespace oneflow::files {

class MemberReader {
 public:
  // Both must outlive this object.
  MemberReader(const SourceFile& file, const Member& member);
  MemberReader(const MemberReader&) = delete;
  MemberReader& operator=(const MemberReader&) = delete;
  ~MemberReader();

  // Copies the next `bytes` bytes. Throws InvalidArgument if there are fewer, or if they are damaged; FileError.
  void read(void* destination, uint64_t bytes);
  // Skips the next `bytes` bytes.
  void skip(uint64_t bytes);
  // Checks that this was the whole content, and its checksum.
  void finish();

 private:
  void inflate_to(unsigned char* destination, uint64_t bytes);
  void fill_input();

  const SourceFile& file_;
  const Member& member_;
  uint64_t stored_ = 0;  // bytes that were taken from the file
  uint64_t read_ = 0;    // bytes that were returned
  uint32_t crc_ = 0;
  std::unique_ptr<unsigned char[]> input_;  // compressed data
  z_stream stream_{};
};

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_MEMBER_READER_H_
