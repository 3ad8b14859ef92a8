// Constants of the zip format, which readers and writers share.
#ifndef ONEFLOW_FILES_ZIP_FORMAT_H_
#define ONEFLOW_FILES_ZIP_FORMAT_H_

#include <zlib.h>

#include <cstdint>

namespace oneflow::files::zip {

// The first four bytes of each part.
constexpr uint64_t kLocalHeader = 0x04034b50, kDirectoryEntry = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kEnd64Locator = 0x07064b50;
// The sizes of the parts without names and extra fields.
constexpr uint64_t kLocalHeaderBytes = 30, kDirectoryEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56,
                   kEnd64LocatorBytes = 20;

constexpr uint64_t kStored = 0, kDeflated = 8;       // methods of compression
constexpr int kRawDeflate = -MAX_WBITS;              // zlib's window bits for content without a header
constexpr uint64_t kEncrypted = 1, kUtf8 = 1 << 11;  // flags
constexpr uint64_t kExtra64 = 1;                     // the extra field with numbers of 64 bits
constexpr uint64_t kInExtra = 0xffffffff;            // a number of 32 bits that stands for one in that field
constexpr uint64_t kShortInExtra = 0xffff;           // a number of 16 bits that does

}  // namespace oneflow::files::zip

#endif  // ONEFLOW_FILES_ZIP_FORMAT_H_
