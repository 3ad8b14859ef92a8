#include <filesystem>
#include <system_error>
#include <unordered_map>

#include "base/characters.h"
#include "files/json.h"
#include "files/names.h"
#include "files/safetensors.h"

namespace oneflow::files {
namespace {

constexpr uint64_t kMostBytes = 100'000'000;

// Reads {"metadata": {...}, "weight_map": {"<name of a tensor>": "<name of a file>"}}.
class IndexReader : public JsonReader {
 public:
  Metadata metadata;
  std::vector<std::pair<std::string, std::string>> files;  // of the tensors
  bool has_files = false;

  bool start_object(size_t) override { return ++depth_ <= 2 || JsonReader::start_object(0); }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool key(std::string& text) override {
    if (depth_ == 2) {
      key_ = text;
      return true;
    }
    if (text != "metadata" && text != "weight_map") return refuse("it has the unknown part '" + printable(text) + "'");
    in_files_ = text == "weight_map";
    has_files |= in_files_;
    return true;
  }
  bool string(std::string& text) override {
    if (depth_ < 2) return JsonReader::string(text);
    (in_files_ ? files : metadata).emplace_back(key_, text);
    return true;
  }
  bool number_unsigned(uint64_t number) override { return add_metadata(std::to_string(number)); }
  bool number_float(double, const std::string& text) override { return add_metadata(text); }
  bool number_integer(int64_t number) override { return add_metadata(std::to_string(number)); }
  bool boolean(bool value) override { return add_metadata(value ? "true" : "false"); }
  bool null() override { return add_metadata("null"); }

 private:
  // Adds a value that is no string, such as the total size, in the form that JSON gives it.
  bool add_metadata(std::string text) {
    if (depth_ < 2 || in_files_) return refuse("it has a value that is no string");
    metadata.emplace_back(key_, std::move(text));
    return true;
  }

  int depth_ = 0;
  bool in_files_ = false;
  std::string key_;
};

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

// Returns whether a file is in the folder of the index, or of what that is a link to, after links are followed. Caches
// of downloads keep all files in one folder, and link to them under their names.
bool stays_in_folder(const std::string& path, const std::string& index) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::canonical(path, error).parent_path();
  const fs::path given = fs::path(index).parent_path();
  if (error) return true;  // opening it says why
  return folder == fs::canonical(given.empty() ? "." : given, error) ||
         folder == fs::canonical(index, error).parent_path();
}

// The tensors of one of the files, by name.
using Shard = std::unordered_map<std::string, Entry>;

Shard open_shard(const SourceFile& index, const std::string& name) {
  // A name must not lead out of the folder: the index may come from somebody else.
  if (!is_plain_name(name)) index.refuse("'%s' is not the name of a file in the same folder", printable(name).c_str());
  const size_t slash = index.path().rfind('/');
  const std::string folder = slash == std::string::npos ? "" : index.path().substr(0, slash + 1);
  if (!stays_in_folder(folder + name, index.path()))
    index.refuse("'%s' is a link that leads out of the folder", printable(name).c_str());
  Shard shard;
  for (Entry& entry : open_safetensors(SourceFile::open(folder + name)).entries) {
    std::string key = entry.name;
    shard.emplace(std::move(key), std::move(entry));
  }
  return shard;
}

}  // namespace

Contents open_safetensors_index(Ref<const SourceFile> file) {
  if (file->bytes() > kMostBytes) file->refuse("it has %lu bytes, which is too much for an index", file->bytes());
  IndexReader reader;
  try {
    reader.read(file->read_text(0, file->bytes()));
  } catch (const Error& error) {
    if (error.status() != OF_INVALID_ARGUMENT) throw;
    file->refuse("%s", error.text().c_str());
  }
  if (!reader.has_files) file->refuse("it has no weight_map");

  Contents contents;
  contents.metadata = std::move(reader.metadata);
  std::unordered_map<std::string, Shard> shards;
  for (const auto& [name, shard_name] : reader.files) {
    check_name("a name", name);
    auto found = shards.find(shard_name);
    if (found == shards.end()) found = shards.emplace(shard_name, open_shard(*file, shard_name)).first;
    const auto entry = found->second.extract(name);
    if (entry.empty())
      file->refuse("'%s' has no tensor '%s', or the index has it twice", printable(shard_name).c_str(),
                   printable(name).c_str());
    contents.entries.push_back(std::move(entry.mapped()));
  }
  return contents;
}

}  // namespace oneflow::files
