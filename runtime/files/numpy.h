// Files of NumPy: one array (.npy), and zip archives of arrays (.npz).
#ifndef ONEFLOW_FILES_NUMPY_H_
#define ONEFLOW_FILES_NUMPY_H_

#include <string_view>

#include "files/contents.h"
#include "files/document.h"
#include "files/output_file.h"

namespace oneflow::files {

// What the names of arrays in an archive end in.
inline constexpr std::string_view kArraySuffix = ".npy";
// Arrays of an archive that are no tensors.
inline constexpr const char* kMetadataArray = "__metadata__";
inline constexpr const char* kStructureArray = "__structure__";

// Reads the header of an array. Throws InvalidArgument if the file is malformed.
Contents open_npy(Ref<const SourceFile> file);
// Writes an array. Throws InvalidArgument unless the document is a tensor without metadata.
void save_npy(OutputFile& file, const Document& document);

// Reads the headers of all arrays. Members that are no arrays are left out.
Contents open_npz(Ref<const SourceFile> file);
// Writes an archive. Metadata and structure are arrays of bytes that hold JSON.
void save_npz(OutputFile& file, const Document& document);

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_NUMPY_H_
