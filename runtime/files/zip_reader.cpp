#include <algorithm>

#include "base/characters.h"
#include "base/error.h"
#include "files/little_endian.h"
#include "files/zip.h"
#include "files/zip_format.h"

namespace oneflow::files {
namespace {

using namespace zip;

// The largest ratio by which deflate compresses, and a margin for small members.
constexpr uint64_t kMostDeflation = 1032, kDeflationMargin = 1024;
constexpr uint64_t kMostComment = 0xffff;
// A directory takes at least 46 bytes per member, so this allows for two million members.
constexpr uint64_t kMostDirectoryBytes = 100'000'000;

// Reads numbers of a part of the archive. A read past its end is an error.
class Part {
 public:
  Part(const SourceFile& file, std::string_view bytes) : file_(file), bytes_(bytes) {}

  uint64_t number(int count) { return from_little_endian(take(static_cast<uint64_t>(count)).data(), count); }
  std::string_view take(uint64_t count) {
    if (count > bytes_.size()) file_.refuse("the directory of the archive ends too early");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  void skip(uint64_t count) { take(count); }
  bool is_empty() const { return bytes_.empty(); }

 private:
  const SourceFile& file_;
  std::string_view bytes_;
};

struct Directory {
  uint64_t offset, bytes, count;
};

bool lies_in(const SourceFile& file, uint64_t offset, uint64_t bytes) {
  return offset <= file.bytes() && bytes <= file.bytes() - offset;
}

// Replaces what is known of the directory by what the end of a large archive says.
Directory read_end64(const SourceFile& file, uint64_t end) {
  if (end < kEnd64LocatorBytes) file.refuse("the end of the archive is missing");
  const std::string locator = file.read_text(end - kEnd64LocatorBytes, kEnd64LocatorBytes);
  Part located(file, locator);
  if (located.number(4) != kEnd64Locator) file.refuse("the end of the archive is missing");
  located.skip(4);
  const uint64_t offset = located.number(8);
  if (!lies_in(file, offset, kEnd64Bytes)) file.refuse("the end of the archive is out of bounds");
  const std::string text = file.read_text(offset, kEnd64Bytes);
  Part part(file, text);
  if (part.number(4) != kEnd64) file.refuse("the end of the archive is missing");
  part.skip(8 + 2 + 2 + 4 + 4 + 8);
  Directory directory{};
  directory.count = part.number(8);
  directory.bytes = part.number(8);
  directory.offset = part.number(8);
  return directory;
}

// Returns where the end of the archive begins in the last bytes of the file: a comment may follow it, and look like it.
size_t find_end(const SourceFile& file, std::string_view tail) {
  const std::string signature = little_endian(kEnd, 4);
  for (size_t at = tail.rfind(signature); at != std::string_view::npos;
       at = at ? tail.rfind(signature, at - 1) : at - 1) {
    const uint64_t rest = tail.size() - at;
    if (rest >= kEndBytes && from_little_endian(tail.data() + at + kEndBytes - 2, 2) == rest - kEndBytes) return at;
  }
  file.refuse("it is not a zip archive, or was cut off");
}

Directory find_directory(const SourceFile& file) {
  const uint64_t tail_bytes = std::min(file.bytes(), kEndBytes + kMostComment);
  const std::string tail = file.read_text(file.bytes() - tail_bytes, tail_bytes);
  const size_t at = find_end(file, tail);
  Part part(file, std::string_view(tail).substr(at));
  part.skip(4 + 2 + 2 + 2);
  Directory directory{};
  directory.count = part.number(2);
  directory.bytes = part.number(4);
  directory.offset = part.number(4);
  const bool is_large = directory.count == kShortInExtra || directory.bytes == kInExtra || directory.offset == kInExtra;
  if (is_large) directory = read_end64(file, file.bytes() - tail_bytes + at);
  if (!lies_in(file, directory.offset, directory.bytes) || directory.bytes > kMostDirectoryBytes)
    file.refuse("the directory of the archive is out of bounds");
  return directory;
}

// Replaces numbers of an entry that its extra field has.
void read_extra(const SourceFile& file, std::string_view text, Member* member, uint64_t* header_offset) {
  uint64_t* const numbers[] = {&member->bytes, &member->stored_bytes, header_offset};
  if (std::none_of(std::begin(numbers), std::end(numbers), [](auto* number) { return *number == kInExtra; })) return;
  for (Part fields(file, text); !fields.is_empty();) {
    const uint64_t id = fields.number(2);
    Part field(file, fields.take(fields.number(2)));
    if (id != kExtra64) continue;
    for (uint64_t* number : numbers)
      if (*number == kInExtra) *number = field.number(8);
    return;
  }
  file.refuse("the directory of the archive lacks the size of a large member");
}

NamedMember read_entry_of_directory(const SourceFile& file, Part* part) {
  if (part->number(4) != kDirectoryEntry) file.refuse("the directory of the archive is damaged");
  part->skip(2 + 2);
  const uint64_t flags = part->number(2), method = part->number(2);
  part->skip(2 + 2);
  NamedMember result;
  Member& member = result.member;
  member.crc = static_cast<uint32_t>(part->number(4));
  member.stored_bytes = part->number(4);
  member.bytes = part->number(4);
  const uint64_t name_bytes = part->number(2), extra_bytes = part->number(2), comment_bytes = part->number(2);
  part->skip(2 + 2 + 4);
  uint64_t header_offset = part->number(4);
  result.name = part->take(name_bytes);
  read_extra(file, part->take(extra_bytes), &member, &header_offset);
  part->skip(comment_bytes);

  const std::string path = printable(file.path()), name = printable(result.name);
  if (flags & kEncrypted) fail(OF_UNSUPPORTED, "'%s' has an encrypted member '%s'", path.c_str(), name.c_str());
  if (method != kStored && method != kDeflated)
    fail(OF_UNSUPPORTED, "'%s' has a member '%s' with compression method %lu; only stored and deflated ones are read",
         path.c_str(), name.c_str(), method);
  member.is_deflated = method == kDeflated;

  // The name and the extra field before the content may have other lengths than in the directory.
  if (!lies_in(file, header_offset, kLocalHeaderBytes)) file.refuse("member '%s' is out of bounds", name.c_str());
  const std::string header = file.read_text(header_offset, kLocalHeaderBytes);
  Part local(file, header);
  if (local.number(4) != kLocalHeader) file.refuse("member '%s' has no header", name.c_str());
  local.skip(2 + 2 + 2 + 2 + 2 + 4 + 4 + 4);
  const uint64_t local_name_bytes = local.number(2), local_extra_bytes = local.number(2);
  member.offset = header_offset + kLocalHeaderBytes + local_name_bytes + local_extra_bytes;
  if (!lies_in(file, member.offset, member.stored_bytes)) file.refuse("member '%s' is out of bounds", name.c_str());
  const bool is_possible = member.is_deflated ? member.bytes / kMostDeflation <= member.stored_bytes + kDeflationMargin
                                              : member.bytes == member.stored_bytes;
  if (!is_possible)
    file.refuse("member '%s' cannot have %lu bytes: it takes %lu in the archive", name.c_str(), member.bytes,
                member.stored_bytes);
  return result;
}

// Members that share compressed data could be much larger together than the archive.
void refuse_overlaps(const SourceFile& file, const std::vector<NamedMember>& members) {
  std::vector<const Member*> sorted;
  for (const NamedMember& each : members) sorted.push_back(&each.member);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1]->offset + sorted[i - 1]->stored_bytes > sorted[i]->offset)
      file.refuse("members of the archive overlap");
}

}  // namespace

std::vector<NamedMember> read_zip_directory(const SourceFile& file) {
  const Directory directory = find_directory(file);
  const std::string text = file.read_text(directory.offset, directory.bytes);
  std::vector<NamedMember> members;
  for (Part part(file, text); members.size() < directory.count;)
    members.push_back(read_entry_of_directory(file, &part));
  refuse_overlaps(file, members);
  return members;
}

}  // namespace oneflow::files
