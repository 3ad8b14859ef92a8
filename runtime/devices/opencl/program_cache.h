// The cache of compiled programs on disk: in $ONEFLOW_CACHE_DIR or, unless the driver has a cache of its own, in the
// user's cache folder.
#ifndef ONEFLOW_DEVICES_OPENCL_PROGRAM_CACHE_H_
#define ONEFLOW_DEVICES_OPENCL_PROGRAM_CACHE_H_

#include <string>
#include <vector>

#include "device.h"

namespace oneflow::opencl {

// Returns whether compiled programs of the device are kept in this cache.
bool keeps_programs(const Device& device);
// Returns the binary that was written for the key; an empty one if there is none or it cannot be read.
std::vector<unsigned char> read_cached(const std::string& key);
// Writes the binary for a key. Several processes may write at once. Failures are ignored.
void write_cached(const std::string& key, const std::vector<unsigned char>& binary);

}  // namespace oneflow::opencl

#endif  // ONEFLOW_DEVICES_OPENCL_PROGRAM_CACHE_H_
