#include <algorithm>
#include <bit>

#include "base/characters.h"
#include "base/error.h"
#include "files/little_endian.h"
#include "files/safetensors.h"
#include "files/safetensors_header.h"

namespace oneflow::files {
namespace {

// Checks that the tensors fill the bytes after the header without gaps and overlaps, as the format requires.
void check_offsets(const SourceFile& file, const std::vector<Entry>& entries, uint64_t data_bytes) {
  std::vector<const Entry*> sorted;
  for (const Entry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->offset, a->bytes) < std::pair(b->offset, b->bytes);
  });
  uint64_t end = 0;
  for (const Entry* entry : sorted) {
    if (entry->offset != end)
      file.refuse("tensor '%s' begins at byte %lu of the data instead of %lu", printable(entry->name).c_str(),
                  entry->offset, end);
    end += entry->bytes;  // cannot overflow: each range ends at a number of the header
  }
  if (end != data_bytes) file.refuse("its tensors have %lu bytes, but %lu follow the header", end, data_bytes);
}

// Takes the structure out of the metadata.
std::string take_structure(Metadata* metadata) {
  const auto found = std::find_if(metadata->begin(), metadata->end(),
                                  [](const auto& pair) { return pair.first == kSafetensorsStructure; });
  if (found == metadata->end()) return "";
  std::string structure = std::move(found->second);
  metadata->erase(found);
  return structure;
}

}  // namespace

Contents open_safetensors(Ref<const SourceFile> file) {
  if (file->bytes() < kSafetensorsLengthBytes)
    file->refuse("it has %lu bytes, which is no safetensors file", file->bytes());
  const uint64_t length =
      from_little_endian(file->read_text(0, kSafetensorsLengthBytes).data(), kSafetensorsLengthBytes);
  if (length > kMostSafetensorsHeader || length > file->bytes() - kSafetensorsLengthBytes)
    file->refuse("its header would have %lu bytes, of the %lu of the file", length, file->bytes());
  const std::string text = file->read_text(kSafetensorsLengthBytes, length);
  Contents contents;
  try {
    contents = read_safetensors_header(text);
  } catch (const Error& error) {
    file->refuse("in its header, %s", error.text().c_str());
  }
  const uint64_t begin = kSafetensorsLengthBytes + length;
  check_offsets(*file, contents.entries, file->bytes() - begin);
  for (Entry& entry : contents.entries) {
    entry.offset += begin;
    entry.file = file;
    entry.is_swapped = std::endian::native != std::endian::little;
  }
  contents.structure = take_structure(&contents.metadata);
  return contents;
}

}  // namespace oneflow::files
