// The JSON header of a safetensors file.
#ifndef ONEFLOW_FILES_SAFETENSORS_HEADER_H_
#define ONEFLOW_FILES_SAFETENSORS_HEADER_H_

#include <string_view>
#include <vector>

#include "files/contents.h"

namespace oneflow::files {

// The key of the header whose value is no tensor, but the metadata.
inline constexpr const char* kMetadataKey = "__metadata__";
// The metadata that is the structure; see structure.h.
inline constexpr const char* kSafetensorsStructure = "oneflow.structure";

// The bytes in front of the header, which hold its size.
inline constexpr int kSafetensorsLengthBytes = 8;
// The largest header that readers of the format accept.
inline constexpr uint64_t kMostSafetensorsHeader = 100'000'000;

// Reads a header into entries whose offsets count from the end of the header. Throws InvalidArgument if it is
// malformed, ShapeError for a shape that no tensor has.
Contents read_safetensors_header(std::string_view text);

// Returns the name of a dtype in a header; null if the format has none.
const char* safetensors_type(of_dtype dtype);

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_SAFETENSORS_HEADER_H_
