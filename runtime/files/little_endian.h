// Integers in the byte order of the file formats.
#ifndef ONEFLOW_FILES_LITTLE_ENDIAN_H_
#define ONEFLOW_FILES_LITTLE_ENDIAN_H_

#include <cstdint>
#include <string>

namespace oneflow::files {

// Returns the lowest `count` bytes of a number, the lowest one first.
inline std::string little_endian(uint64_t number, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(number >> 8 * i & 0xff);
  return bytes;
}

// Returns the number whose lowest `count` bytes are at `data`, and whose other bytes are 0.
inline uint64_t from_little_endian(const char* data, int count) {
  uint64_t number = 0;
  for (int i = 0; i < count; ++i) number |= uint64_t{static_cast<unsigned char>(data[i])} << 8 * i;
  return number;
}

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_LITTLE_ENDIAN_H_
