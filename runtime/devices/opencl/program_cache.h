// Compiled programs on disk: in $ONEFLOW_CACHE_DIR, else, unless the driver keeps them itself, in the folder for caches
// of the user.
#ifndef ONEFLOW_DEVICES_OPENCL_PROGRAM_CACHE_H_
#define ONEFLOW_DEVICES_OPENCL_PROGRAM_CACHE_H_

#include <string>
#include <vector>

#include "device.h"

namespace oneflow::opencl {

// Whether there is a folder for what a driver compiled.
bool keeps_programs(const Device& device);
// What was written for the same key; nothing where there is none, or it cannot be read.
std::vector<unsigned char> read_cached(const std::string& key);
// Several processes may write at once; one that cannot goes on without.
void write_cached(const std::string& key, const std::vector<unsigned char>& binary);

}  // namespace oneflow::opencl

#endif  // ONEFLOW_DEVICES_OPENCL_PROGRAM_CACHE_H_
