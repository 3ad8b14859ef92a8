#include "graph/graph_file.h"

#include <map>

#include "base/characters.h"
#include "base/error.h"
#include "files/checksum.h"
#include "files/document.h"
#include "files/safetensors.h"
#include "files/tensor_file.h"
#include "graph/text.h"

namespace oneflow::graph {

namespace {

// The keys of the metadata.
constexpr const char* kGraph = "oneflow.graph";
constexpr const char* kGraphChecksum = "oneflow.graph.crc32";
constexpr const char* kConstantsChecksum = "oneflow.constants.crc32";

std::string checksum_text(uint32_t checksum) { return format_text("%08x", checksum); }

std::string checksum_of(const std::string& text) {
  return checksum_text(files::updated_crc(0, text.data(), text.size()));
}

std::string checksum_of(const std::vector<Constant>& constants) {
  uint32_t checksum = 0;
  for (const Constant& constant : constants) {
    const files::RowMajorElements elements(*constant.tensor);
    checksum = files::updated_crc(checksum, elements.data(), elements.bytes());
  }
  return checksum_text(checksum);
}

// Returns a value of the metadata. Throws InvalidArgument if there is none.
const std::string& find(const files::Metadata& metadata, const char* key) {
  for (const auto& [name, value] : metadata)
    if (name == key) return value;
  fail(OF_INVALID_ARGUMENT, "the file holds no graph: its metadata has no '%s'", key);
}

}  // namespace

void save(const Graph& graph, const std::string& path) {
  const Program& program = graph.program();
  files::Document document;
  for (const Constant& constant : program.constants) document.items.push_back({constant.name, constant.tensor});
  const std::string text = to_text(program);
  document.metadata = {
      {kGraph, text}, {kGraphChecksum, checksum_of(text)}, {kConstantsChecksum, checksum_of(program.constants)}};
  files::OutputFile file(path);
  files::save_safetensors(file, document);
  file.commit();
}

Ref<Graph> load(const std::string& path, bool verify) {
  const files::Contents contents = files::open_safetensors(files::SourceFile::open(path));
  const std::string& text = find(contents.metadata, kGraph);
  if (checksum_of(text) != find(contents.metadata, kGraphChecksum))
    fail(OF_INVALID_ARGUMENT, "the file is damaged: the checksum of its graph is wrong");
  Program program = parse(text);
  std::map<std::string_view, const files::Entry*> entries;
  for (const files::Entry& entry : contents.entries) entries.emplace(entry.name, &entry);
  for (Constant& constant : program.constants) {
    const auto entry = entries.find(constant.name);
    if (entry == entries.end())
      fail(OF_INVALID_ARGUMENT, "the file has no tensor '%s'", printable(constant.name).c_str());
    constant.tensor =
        files::read_tensor(*entry->second, program.values[static_cast<size_t>(constant.value)].device, false);
  }
  if (verify && checksum_of(program.constants) != find(contents.metadata, kConstantsChecksum))
    fail(OF_INVALID_ARGUMENT, "the file is damaged: the checksum of its constants is wrong");
  return Graph::create(std::move(program));
}

}  // namespace oneflow::graph
