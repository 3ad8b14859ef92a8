#include <zlib.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <new>

#include "base/error.h"
#include "files/checksum.h"
#include "files/little_endian.h"
#include "files/zip.h"
#include "files/zip_format.h"

namespace oneflow::files {
namespace {

using namespace zip;

constexpr uint64_t kVersion = 45;  // of the format: the first with zip64
constexpr uint64_t kMadeOnUnix = 3 << 8;
constexpr uint64_t kAttributes = uint64_t{0100644} << 16;  // a regular file
constexpr uint64_t kDate = 1 << 5 | 1;                     // 1980-01-01: equal tensors give equal files
constexpr uint64_t kPaddingId = 0x666f;                    // an extra field that only takes space
constexpr uint64_t kExtraHeaderBytes = 4;
// Elements begin at multiples of this, so that they can be used in place.
constexpr uint64_t kAlignment = 64;
// Members of this size or position get numbers of 64 bits. The margin is for data that deflate makes larger.
constexpr uint64_t kLarge = 0xf0000000;

// Compresses what it is given, and appends it to a file.
class Deflater {
 public:
  explicit Deflater(OutputFile& file) : file_(file) {
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kRawDeflate, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK)
      throw std::bad_alloc();
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream_); }

  void write(const void* data, uint64_t bytes) {
    auto* from = static_cast<const unsigned char*>(data);
    while (bytes > 0) {
      const uint64_t count = std::min<uint64_t>(bytes, UINT_MAX);
      stream_.next_in = const_cast<unsigned char*>(from);
      stream_.avail_in = static_cast<uInt>(count);
      run(Z_NO_FLUSH);
      from += count;
      bytes -= count;
    }
  }
  void finish() { run(Z_FINISH); }

 private:
  void run(int flush) {
    do {
      stream_.next_out = output_.get();
      stream_.avail_out = kOutputBytes;
      deflate(&stream_, flush);
      file_.write(output_.get(), kOutputBytes - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  static constexpr uInt kOutputBytes = 1 << 16;
  OutputFile& file_;
  z_stream stream_{};
  std::unique_ptr<unsigned char[]> output_ = std::make_unique_for_overwrite<unsigned char[]>(kOutputBytes);
};

std::string extra_field(uint64_t id, const std::string& content) {
  return little_endian(id, 2) + little_endian(content.size(), 2) + content;
}

}  // namespace

std::string ZipWriter::header(const Written& written, bool in_directory) const {
  const Member& member = written.member;
  const bool is_large = member.bytes >= kLarge || written.header_offset >= kLarge;
  std::string extra;
  if (is_large) {
    std::string numbers = little_endian(member.bytes, 8) + little_endian(member.stored_bytes, 8);
    if (in_directory) numbers += little_endian(written.header_offset, 8);
    extra = extra_field(kExtra64, numbers);
  }
  if (!in_directory) {
    const uint64_t before = written.header_offset + kLocalHeaderBytes + written.name.size() + extra.size();
    const uint64_t padding = (kAlignment - (before + kExtraHeaderBytes) % kAlignment) % kAlignment;
    extra += extra_field(kPaddingId, std::string(padding, '\0'));
  }
  std::string text = little_endian(in_directory ? kDirectoryEntry : kLocalHeader, 4);
  if (in_directory) text += little_endian(kMadeOnUnix | kVersion, 2);
  text += little_endian(kVersion, 2) + little_endian(kUtf8, 2);
  text += little_endian(member.is_deflated ? kDeflated : kStored, 2);
  text += little_endian(0, 2) + little_endian(kDate, 2) + little_endian(member.crc, 4);
  text += little_endian(is_large ? kInExtra : member.stored_bytes, 4);
  text += little_endian(is_large ? kInExtra : member.bytes, 4);
  text += little_endian(written.name.size(), 2) + little_endian(extra.size(), 2);
  if (in_directory) {
    text += std::string(2 + 2 + 2, '\0') + little_endian(kAttributes, 4);
    text += little_endian(is_large ? kInExtra : written.header_offset, 4);
  }
  return text + written.name + extra;
}

void ZipWriter::add(const std::string& name, uint64_t bytes, const std::function<void(const Sink&)>& write) {
  if (name.size() > USHRT_MAX) fail(OF_INVALID_ARGUMENT, "a name in a zip archive has at most 65535 bytes");
  Written written{name, {}, file_.position()};
  Member& member = written.member;
  member.bytes = bytes;
  member.is_deflated = deflates_;
  file_.write(header(written, false));
  member.offset = file_.position();
  std::unique_ptr<Deflater> deflater = deflates_ ? std::make_unique<Deflater>(file_) : nullptr;
  write([&](const void* data, uint64_t count) {
    member.crc = updated_crc(member.crc, data, count);
    deflater ? deflater->write(data, count) : file_.write(data, count);
  });
  if (deflater) deflater->finish();
  member.stored_bytes = file_.position() - member.offset;
  file_.rewrite(written.header_offset, header(written, false));
  members_.push_back(std::move(written));
}

void ZipWriter::finish() {
  const uint64_t begin = file_.position();
  for (const Written& written : members_) file_.write(header(written, true));
  const uint64_t end = file_.position();
  const uint64_t size = members_.size();
  const bool is_large = size >= kShortInExtra || end >= kLarge;
  std::string text;
  if (is_large) {
    text += little_endian(kEnd64, 4) + little_endian(kEnd64Bytes - 12, 8);
    text += little_endian(kVersion, 2) + little_endian(kVersion, 2) + std::string(4 + 4, '\0');
    text += little_endian(size, 8) + little_endian(size, 8) + little_endian(end - begin, 8) + little_endian(begin, 8);
    text += little_endian(kEnd64Locator, 4) + std::string(4, '\0') + little_endian(end, 8) + little_endian(1, 4);
  }
  text += little_endian(kEnd, 4) + std::string(2 + 2, '\0');
  const std::string count = little_endian(is_large ? kShortInExtra : size, 2);
  text += count + count + little_endian(is_large ? kInExtra : end - begin, 4);
  text += little_endian(is_large ? kInExtra : begin, 4) + std::string(2, '\0');
  file_.write(text);
}

}  // namespace oneflow::files
