// Zip archives, with the extensions for large files (zip64). Members are stored or deflated.
#ifndef ONEFLOW_FILES_ZIP_H_
#define ONEFLOW_FILES_ZIP_H_

#include <functional>
#include <string>
#include <vector>

#include "files/contents.h"
#include "files/output_file.h"

namespace oneflow::files {

struct NamedMember {
  std::string name;
  Member member;
};

// Reads the directory of an archive, in its order. Throws InvalidArgument if it is malformed: among others, if members
// overlap, or claim to be larger than their compressed data can be. Throws Unsupported for members that are encrypted
// or compressed in another way.
std::vector<NamedMember> read_zip_directory(const SourceFile& file);

// Writes an archive.
class ZipWriter {
 public:
  // Takes a part of the content of a member.
  using Sink = std::function<void(const void*, uint64_t)>;

  ZipWriter(OutputFile& file, bool deflates) : file_(file), deflates_(deflates) {}
  // Appends a member. write(sink) passes its content to the sink, `bytes` bytes in all.
  void add(const std::string& name, uint64_t bytes, const std::function<void(const Sink&)>& write);
  // Writes the directory. Must be called once, at the end.
  void finish();

 private:
  struct Written {
    std::string name;
    Member member;
    uint64_t header_offset;
  };
  // Returns the header in front of the content or, for the directory, the entry of a member.
  std::string header(const Written& written, bool in_directory) const;

  OutputFile& file_;
  const bool deflates_;
  std::vector<Written> members_;
};

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_ZIP_H_
