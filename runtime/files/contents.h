// What a file holds, in a form that is the same for all formats.
#ifndef ONEFLOW_FILES_CONTENTS_H_
#define ONEFLOW_FILES_CONTENTS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "files/source_file.h"

namespace oneflow::files {

// A member of a zip archive.
struct Member {
  uint64_t offset = 0;        // of its content in the file
  uint64_t stored_bytes = 0;  // of the content in the file
  uint64_t bytes = 0;         // of the content once it is decompressed
  uint32_t crc = 0;           // of the decompressed content
  bool is_deflated = false;
};

// A tensor in a file: its properties, and where its elements are.
struct Entry {
  std::string name;
  std::string type;                // the dtype, as the format spells it: "F32", "<f4"
  of_dtype dtype = OF_DTYPE_NONE;  // OF_DTYPE_NONE if there is no such dtype here
  Shape sizes;
  uint64_t bytes = 0;  // of the elements
  Ref<const SourceFile> file;
  uint64_t offset = 0;  // of the elements in the file or, if there is a member, in its content
  std::optional<Member> member;
  bool is_swapped = false;       // whether the byte order is not that of this machine
  bool is_column_major = false;  // whether the first index varies fastest
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

// The entries of a file, in its order.
struct Contents {
  std::vector<Entry> entries;
  Metadata metadata;
  std::string structure;  // see structure.h; empty if the names are all that is known
};

// Copies the elements of an entry to host memory of `entry.bytes` bytes, in the order of the file and the byte order of
// this machine; a bool becomes 0 or 1. Throws DTypeError for an element type that does not exist here, FileError, or
// InvalidArgument if compressed data is damaged.
void read_entry(const Entry& entry, void* destination);

// Throws DTypeError if there is no dtype for the elements of an entry.
void check_dtype(const Entry& entry);

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_CONTENTS_H_
