#include "files/safetensors.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/characters.h"
#include "base/error.h"
#include "files/json.h"
#include "files/little_endian.h"
#include "files/names.h"
#include "files/safetensors_header.h"

namespace oneflow::files {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMostHeaderBytes = 100'000'000;  // as other readers of the format have it
constexpr uint64_t kAlignment = 64;                 // of the first element in files that this writes
constexpr const char* kStructureKey = "oneflow.structure";

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
  const auto found =
      std::find_if(metadata->begin(), metadata->end(), [](const auto& pair) { return pair.first == kStructureKey; });
  if (found == metadata->end()) return "";
  std::string structure = std::move(found->second);
  metadata->erase(found);
  return structure;
}

std::string header_text(const Document& document, const std::vector<uint64_t>& offsets) {
  Metadata metadata = document.metadata;
  for (const auto& [key, value] : metadata)
    if (key == kStructureKey) fail(OF_INVALID_ARGUMENT, "the metadata '%s' is reserved", kStructureKey);
  if (!document.structure.empty()) metadata.emplace_back(kStructureKey, document.structure);

  std::string text = "{";
  if (!metadata.empty()) text += to_json(kMetadataKey) + ':' + to_json(metadata);
  for (size_t i = 0; i < document.items.size(); ++i) {
    const auto& [name, tensor] = document.items[i];
    if (name == kMetadataKey) fail(OF_INVALID_ARGUMENT, "the name '%s' is reserved", kMetadataKey);
    const char* type = safetensors_type(tensor->dtype());
    if (!type)
      fail(OF_DTYPE_ERROR, "tensor '%s' is of type %s, which the safetensors format lacks", printable(name).c_str(),
           dtype_name(tensor->dtype()));
    if (text.back() != '{') text += ',';
    text += to_json(name) + ":{\"dtype\":\"" + type + "\",\"shape\":[";
    for (int dim = 0; dim < tensor->rank(); ++dim) {
      if (dim) text += ',';
      text += std::to_string(tensor->size(dim));
    }
    text += "],\"data_offsets\":[" + std::to_string(offsets[i]) + ',';
    text += std::to_string(offsets[i] + static_cast<uint64_t>(tensor->bytes())) + "]}";
  }
  text += '}';
  const uint64_t total = (kLengthBytes + text.size() + kAlignment - 1) / kAlignment * kAlignment;
  text.append(total - kLengthBytes - text.size(), ' ');
  if (text.size() > kMostHeaderBytes)
    fail(OF_INVALID_ARGUMENT, "the header would have %zu bytes; readers accept %lu", text.size(), kMostHeaderBytes);
  return text;
}

}  // namespace

Contents open_safetensors(Ref<const SourceFile> file) {
  if (file->bytes() < kLengthBytes) file->refuse("it has %lu bytes, which is no safetensors file", file->bytes());
  const uint64_t length = from_little_endian(file->read_text(0, kLengthBytes).data(), kLengthBytes);
  if (length > kMostHeaderBytes || length > file->bytes() - kLengthBytes)
    file->refuse("its header would have %lu bytes, of the %lu of the file", length, file->bytes());
  const std::string text = file->read_text(kLengthBytes, length);
  Contents contents;
  try {
    contents = read_safetensors_header(text);
  } catch (const Error& error) {
    file->refuse("in its header, %s", error.text().c_str());
  }
  const uint64_t begin = kLengthBytes + length;
  check_offsets(*file, contents.entries, file->bytes() - begin);
  for (Entry& entry : contents.entries) {
    entry.offset += begin;
    entry.file = file;
    entry.is_swapped = std::endian::native != std::endian::little;
  }
  contents.structure = take_structure(&contents.metadata);
  return contents;
}

void save_safetensors(OutputFile& file, const Document& document) {
  // The elements of wide types come first, so that each tensor is aligned to the size of its elements.
  std::vector<size_t> order(document.items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return document.items[a].tensor->element_bytes() > document.items[b].tensor->element_bytes();
  });
  std::vector<uint64_t> offsets(document.items.size());
  uint64_t end = 0;
  for (const size_t i : order) {
    offsets[i] = end;
    const Tensor& tensor = *document.items[i].tensor;
    if (__builtin_add_overflow(end, static_cast<uint64_t>(count_bytes(tensor.sizes(), tensor.dtype())), &end))
      fail(OF_SHAPE_ERROR, "the tensors take more bytes than an uint64 can count");
  }
  const std::string header = header_text(document, offsets);
  file.write(little_endian(header.size(), kLengthBytes) + header);
  for (const size_t i : order) {
    const RowMajorElements elements(*document.items[i].tensor);
    file.write(elements.data(), elements.bytes());
  }
}

}  // namespace oneflow::files
