// The safetensors format: the size of a JSON header as 8 bytes, the header, and the elements of all tensors.
#ifndef ONEFLOW_FILES_SAFETENSORS_H_
#define ONEFLOW_FILES_SAFETENSORS_H_

#include <string>

#include "files/contents.h"
#include "files/document.h"
#include "files/output_file.h"

namespace oneflow::files {

// Reads the header of a file. Throws InvalidArgument if it is malformed.
Contents open_safetensors(Ref<const SourceFile> file);
// Writes a file. Throws DTypeError for a dtype that the format lacks.
void save_safetensors(OutputFile& file, const Document& document);

// Reads an index of several files in the same folder, and the headers of these.
Contents open_safetensors_index(Ref<const SourceFile> file);

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_SAFETENSORS_H_
