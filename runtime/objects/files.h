// Reading files of tensors.
#ifndef ONEFLOW_OBJECTS_FILES_H_
#define ONEFLOW_OBJECTS_FILES_H_

#include <oneflow/files.h>

#include "objects/results.h"

namespace oneflow::objects {

// Returns the options for the arguments `device` and `mmap`.
of_read_options read_options(const of_data& device, const of_data& mmap);

// Reads all tensors of a file, and gives them as they were nested, or flat. Throws Failed.
void give_all(of_file file, const of_read_options& options, bool is_flat, Results& results);

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_FILES_H_
