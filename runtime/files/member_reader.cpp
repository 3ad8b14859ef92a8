#include "files/member_reader.h"

#include <algorithm>
#include <climits>
#include <new>

#include "base/error.h"
#include "files/checksum.h"
#include "files/zip_format.h"

namespace oneflow::files {
namespace {

constexpr uint64_t kInputBytes = uint64_t{1} << 16;
constexpr uint64_t kMost = UINT_MAX;  // at once

}  // namespace

MemberReader::MemberReader(const SourceFile& file, const Member& member) : file_(file), member_(member) {
  if (!member.is_deflated) return;
  input_ = std::make_unique_for_overwrite<unsigned char[]>(kInputBytes);
  if (inflateInit2(&stream_, zip::kRawDeflate) != Z_OK) throw std::bad_alloc();
}

MemberReader::~MemberReader() {
  if (member_.is_deflated) inflateEnd(&stream_);
}

void MemberReader::fill_input() {
  const uint64_t count = std::min(member_.stored_bytes - stored_, kInputBytes);
  file_.read(member_.offset + stored_, input_.get(), count);
  stored_ += count;
  stream_.next_in = input_.get();
  stream_.avail_in = static_cast<uInt>(count);
}

void MemberReader::inflate_to(unsigned char* destination, uint64_t bytes) {
  while (bytes > 0) {
    const uint64_t wanted = std::min(bytes, kMost);
    stream_.next_out = destination;
    stream_.avail_out = static_cast<uInt>(wanted);
    if (stream_.avail_in == 0) fill_input();
    const int outcome = inflate(&stream_, Z_NO_FLUSH);
    const uint64_t made = wanted - stream_.avail_out;
    destination += made;
    bytes -= made;
    if (outcome == Z_MEM_ERROR) throw std::bad_alloc();
    const bool is_stuck = made == 0 && stream_.avail_in == 0 && stored_ == member_.stored_bytes;
    if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR)
      file_.refuse("compressed data is damaged (%s)", stream_.msg ? stream_.msg : "unknown reason");
    if (bytes > 0 && (outcome == Z_STREAM_END || is_stuck)) file_.refuse("compressed data ends too early");
  }
}

void MemberReader::read(void* destination, uint64_t bytes) {
  if (bytes > member_.bytes - read_) file_.refuse("a member of the archive ends too early");
  auto* const to = static_cast<unsigned char*>(destination);
  if (member_.is_deflated) {
    inflate_to(to, bytes);
  } else {
    file_.read(member_.offset + read_, to, bytes);
  }
  read_ += bytes;
  crc_ = updated_crc(crc_, to, bytes);
}

void MemberReader::skip(uint64_t bytes) {
  unsigned char ignored[1024];
  while (bytes > 0) {
    const uint64_t count = std::min<uint64_t>(bytes, sizeof(ignored));
    read(ignored, count);
    bytes -= count;
  }
}

void MemberReader::finish() {
  if (read_ != member_.bytes) file_.refuse("a member of the archive has more bytes than its array");
  if (crc_ != member_.crc) file_.refuse("a member of the archive has another checksum than its directory says");
}

}  // namespace oneflow::files
