#include "files/contents.h"

#include <algorithm>

#include "base/characters.h"
#include "base/error.h"
#include "files/member_reader.h"

namespace oneflow::files {
namespace {

// Reverses the bytes of each number.
void swap_bytes(void* data, uint64_t bytes, of_dtype dtype) {
  const auto width = static_cast<uint64_t>(dtype_size(part_dtype(dtype)));
  auto* const begin = static_cast<char*>(data);
  for (uint64_t at = 0; at < bytes; at += width) std::reverse(begin + at, begin + at + width);
}

}  // namespace

void check_dtype(const Entry& entry) {
  if (is_valid(entry.dtype)) return;
  fail(OF_DTYPE_ERROR, "'%s' holds elements of type %s for '%s', for which there is no dtype",
       printable(entry.file->path()).c_str(), printable(entry.type).c_str(), printable(entry.name).c_str());
}

void read_entry(const Entry& entry, void* destination) {
  check_dtype(entry);
  if (entry.member) {
    MemberReader reader(*entry.file, *entry.member);
    reader.skip(entry.offset);
    reader.read(destination, entry.bytes);
    reader.finish();
  } else {
    entry.file->read(entry.offset, destination, entry.bytes);
  }
  if (entry.is_swapped) swap_bytes(destination, entry.bytes, entry.dtype);
  if (entry.dtype == OF_BOOL) {
    auto* const values = static_cast<unsigned char*>(destination);
    std::transform(values, values + entry.bytes, values, [](unsigned char value) { return value != 0; });
  }
}

}  // namespace oneflow::files
