// The checksum of members of zip archives.
#ifndef ONEFLOW_FILES_CHECKSUM_H_
#define ONEFLOW_FILES_CHECKSUM_H_

#include <zlib.h>

#include <cstdint>

namespace oneflow::files {

// Returns the CRC-32 of data whose beginning has the checksum `crc`, and which continues with `bytes` bytes.
inline uint32_t updated_crc(uint32_t crc, const void* data, uint64_t bytes) {
  if (bytes == 0) return crc;  // for a null pointer, zlib returns the checksum of nothing
  return static_cast<uint32_t>(crc32_z(crc, static_cast<const unsigned char*>(data), bytes));
}

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_CHECKSUM_H_
