#include <algorithm>
#include <numeric>

#include "base/characters.h"
#include "base/error.h"
#include "files/json.h"
#include "files/little_endian.h"
#include "files/safetensors.h"
#include "files/safetensors_header.h"

namespace oneflow::files {
namespace {

constexpr uint64_t kAlignment = 64;  // of the first element

std::string header_text(const Document& document, const std::vector<uint64_t>& offsets) {
  Metadata metadata = document.metadata;
  for (const auto& [key, value] : metadata)
    if (key == kSafetensorsStructure) fail(OF_INVALID_ARGUMENT, "the metadata '%s' is reserved", kSafetensorsStructure);
  if (!document.structure.empty()) metadata.emplace_back(kSafetensorsStructure, document.structure);

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
  const uint64_t total = (kSafetensorsLengthBytes + text.size() + kAlignment - 1) / kAlignment * kAlignment;
  text.append(total - kSafetensorsLengthBytes - text.size(), ' ');
  if (text.size() > kMostSafetensorsHeader)
    fail(OF_INVALID_ARGUMENT, "the header would have %zu bytes; readers accept %lu", text.size(),
         kMostSafetensorsHeader);
  return text;
}

}  // namespace

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
  file.write(little_endian(header.size(), kSafetensorsLengthBytes) + header);
  for (const size_t i : order) {
    const RowMajorElements elements(*document.items[i].tensor);
    file.write(elements.data(), elements.bytes());
  }
}

}  // namespace oneflow::files
