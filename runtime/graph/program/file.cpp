#include "graph/program/file.h"

#include <oneflow/oneflow.h>

#include <charconv>
#include <map>
#include <vector>

#include "base/characters.h"
#include "base/error.h"
#include "files/checksum.h"
#include "files/document.h"
#include "files/safetensors.h"
#include "files/tensor_file.h"
#include "graph/program/check.h"
#include "graph/program/text.h"

namespace oneflow::graph {

namespace {

// The keys of the metadata.
constexpr const char* kGraph = "oneflow.graph";
constexpr const char* kGraphChecksum = "oneflow.graph.crc32";
constexpr const char* kConstantsChecksum = "oneflow.constants.crc32";
constexpr const char* kVersion = "oneflow.version";  // of the library that wrote the file

std::string checksum_text(uint32_t checksum) { return format_text("%08x", checksum); }

// Returns the checksum of the text of a graph, and of the version that wrote it; null stands for none.
std::string checksum_of(const std::string& text, const std::string* version) {
  const uint32_t checksum = files::updated_crc(0, text.data(), text.size());
  return checksum_text(version ? files::updated_crc(checksum, version->data(), version->size()) : checksum);
}

std::string checksum_of(const std::vector<Constant>& constants) {
  uint32_t checksum = 0;
  for (const Constant& constant : constants) {
    const files::RowMajorElements elements(*constant.tensor);
    checksum = files::updated_crc(checksum, elements.data(), elements.bytes());
  }
  return checksum_text(checksum);
}

// Returns a value of the metadata; null if there is none.
const std::string* find_if(const files::Metadata& metadata, const char* key) {
  for (const auto& [name, value] : metadata)
    if (name == key) return &value;
  return nullptr;
}

// Returns a value of the metadata. Throws InvalidArgument if there is none.
const std::string& find(const files::Metadata& metadata, const char* key) {
  if (const std::string* found = find_if(metadata, key)) return *found;
  fail(OF_INVALID_ARGUMENT, "the file holds no graph: its metadata has no '%s'", key);
}

// Returns the numbers of a version such as "0.1.0", up to what is not a number.
std::vector<int> numbers_of(const std::string& version) {
  std::vector<int> numbers;
  const char *at = version.data(), *const end = at + version.size();
  while (true) {
    int number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return numbers;
    numbers.push_back(number);
    if (stop == end || *stop != '.') return numbers;
    at = stop + 1;
  }
}

// Returns whether an error is about what a file says, whatever the operators of its program call it.
bool is_of_program(of_status status) {
  return status != OF_FILE_ERROR && status != OF_OUT_OF_MEMORY && status != OF_DEVICE_ERROR &&
         status != OF_INTERNAL_ERROR && status != OF_INTERRUPTED;
}

Program read(const files::Contents& contents, bool verify, bool share) {
  const std::string& text = find(contents.metadata, kGraph);
  if (checksum_of(text, find_if(contents.metadata, kVersion)) != find(contents.metadata, kGraphChecksum))
    fail(OF_INVALID_ARGUMENT, "the file is damaged: the checksum of its graph is wrong");
  Program program = parse(text);
  std::map<std::string_view, const files::Entry*> entries;
  for (const files::Entry& entry : contents.entries) entries.emplace(entry.name, &entry);
  for (Constant& constant : program.constants) {
    const auto entry = entries.find(constant.name);
    if (entry == entries.end())
      fail(OF_INVALID_ARGUMENT, "the file has no tensor '%s'", printable(constant.name).c_str());
    constant.tensor =
        files::read_tensor(*entry->second, program.values[static_cast<size_t>(constant.value)].device, !share);
  }
  if (verify && checksum_of(program.constants) != find(contents.metadata, kConstantsChecksum))
    fail(OF_INVALID_ARGUMENT, "the file is damaged: the checksum of its constants is wrong");
  check_program(program);
  return program;
}

}  // namespace

void save(const Program& program, const std::string& path) {
  files::Document document;
  for (const Constant& constant : program.constants) document.items.push_back({constant.name, constant.tensor});
  const std::string text = to_text(program), version = of_version();
  document.metadata = {{kGraph, text},
                       {kGraphChecksum, checksum_of(text, &version)},
                       {kConstantsChecksum, checksum_of(program.constants)},
                       {kVersion, version}};
  files::OutputFile file(path);
  files::save_safetensors(file, document);
  file.commit();
}

Program load(const std::string& path, bool verify, bool share) {
  const files::Contents contents = files::open_safetensors(files::SourceFile::open(path));
  const std::string* const writer = find_if(contents.metadata, kVersion);
  try {
    return read(contents, verify, share);
  } catch (const Error& error) {
    if (!is_of_program(error.status())) throw;
    if (!writer || numbers_of(*writer) <= numbers_of(of_version()))
      throw Error(OF_INVALID_ARGUMENT, error.text(), error.is_complete());
    fail(OF_INVALID_ARGUMENT, "%s; oneflow %s wrote the file, and this is version %s", error.text().c_str(),
         printable(*writer).c_str(), of_version());
  }
}

}  // namespace oneflow::graph
