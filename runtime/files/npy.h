// The format of NumPy's .npy files: a header in the syntax of a Python dictionary, then the elements.
#ifndef ONEFLOW_FILES_NPY_H_
#define ONEFLOW_FILES_NPY_H_

#include <functional>
#include <string>

#include "files/contents.h"

namespace oneflow::files {

// Copies the next bytes of a file to memory; throws if there are fewer.
using ReadBytes = std::function<void(void*, uint64_t)>;

// Reads the header of an array in versions 1.0 to 3.0 of the format. Returns an entry whose offset is the number of
// bytes of the header. Throws InvalidArgument for anything that is no header, ShapeError for a shape that no tensor
// has.
Entry read_npy_header(const SourceFile& file, const ReadBytes& read);

// Returns the header of an array of row-major elements, whose size is a multiple of 64 bytes. Throws DTypeError for a
// dtype that NumPy lacks.
std::string npy_header(of_dtype dtype, Sizes sizes);

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_NPY_H_
