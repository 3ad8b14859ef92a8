#include <unordered_set>

#include "base/characters.h"
#include "base/error.h"
#include "files/json.h"
#include "files/member_reader.h"
#include "files/names.h"
#include "files/npy.h"
#include "files/numpy.h"
#include "files/structure.h"
#include "files/zip.h"

namespace oneflow::files {
namespace {

constexpr uint64_t kMostTextBytes = 100'000'000;

void check_bytes(const SourceFile& file, const Entry& entry, uint64_t bytes) {
  if (is_valid(entry.dtype) && entry.bytes != bytes)
    file.refuse("an array of shape %s has %lu bytes instead of %lu", to_text(entry.sizes).c_str(), bytes, entry.bytes);
}

// Reads an object of strings.
class MetadataReader : public JsonReader {
 public:
  Metadata metadata;

  bool start_object(size_t) override { return !std::exchange(is_open_, true) || JsonReader::start_object(0); }
  bool key(std::string& text) override {
    metadata.emplace_back(text, "");
    return true;
  }
  bool string(std::string& text) override {
    if (!is_open_) return JsonReader::string(text);
    metadata.back().second = text;
    return true;
  }

 private:
  bool is_open_ = false;
};

std::string text_of(const Entry& entry) {
  if (entry.dtype != OF_UINT8 || entry.sizes.rank() != 1 || entry.bytes > kMostTextBytes)
    entry.file->refuse("'%s' is not a list of bytes", printable(entry.name).c_str());
  std::string text(entry.bytes, '\0');
  read_entry(entry, text.data());
  return text;
}

Entry open_member(const Ref<const SourceFile>& file, const NamedMember& found) {
  MemberReader reader(*file, found.member);
  Entry entry = read_npy_header(*file, [&](void* to, uint64_t bytes) { reader.read(to, bytes); });
  entry.name = found.name.substr(0, found.name.size() - kArraySuffix.size());
  check_name("a name", entry.name);
  check_bytes(*file, entry, found.member.bytes - entry.offset);
  entry.file = file;
  entry.member = found.member;
  return entry;
}

}  // namespace

Contents open_npy(Ref<const SourceFile> file) {
  uint64_t at = 0;
  Entry entry = read_npy_header(*file, [&](void* to, uint64_t bytes) {
    if (bytes > file->bytes() - at) file->refuse("it ends within the header");
    file->read(at, to, bytes);
    at += bytes;
  });
  entry.name = kTensorName;
  check_bytes(*file, entry, file->bytes() - entry.offset);
  entry.file = std::move(file);
  Contents contents;
  contents.entries.push_back(std::move(entry));
  contents.structure = kOneTensor;
  return contents;
}

Contents open_npz(Ref<const SourceFile> file) {
  Contents contents;
  std::unordered_set<std::string> names;
  for (const NamedMember& found : read_zip_directory(*file)) {
    if (!std::string_view(found.name).ends_with(kArraySuffix)) continue;
    Entry entry = open_member(file, found);
    if (!names.insert(entry.name).second) file->refuse("the name '%s' occurs twice", printable(entry.name).c_str());
    if (entry.name == kStructureArray) {
      contents.structure = text_of(entry);
    } else if (entry.name == kMetadataArray) {
      MetadataReader reader;
      reader.read(text_of(entry));
      contents.metadata = std::move(reader.metadata);
    } else {
      contents.entries.push_back(std::move(entry));
    }
  }
  return contents;
}

}  // namespace oneflow::files
