#include "base/error.h"
#include "files/json.h"
#include "files/npy.h"
#include "files/numpy.h"
#include "files/structure.h"
#include "files/zip.h"

namespace oneflow::files {
namespace {

void add_text(ZipWriter& archive, const char* name, const std::string& text) {
  const std::string header = npy_header(OF_UINT8, Shape{static_cast<int64_t>(text.size())});
  archive.add(name + std::string(kArraySuffix), header.size() + text.size(), [&](const ZipWriter::Sink& sink) {
    sink(header.data(), header.size());
    sink(text.data(), text.size());
  });
}

}  // namespace

void save_npy(OutputFile& file, const Document& document) {
  if (document.structure != kOneTensor)
    fail(OF_INVALID_ARGUMENT, "an .npy file holds one tensor; save a dictionary or a list as .npz or .safetensors");
  if (!document.metadata.empty()) fail(OF_INVALID_ARGUMENT, "an .npy file holds no metadata");
  const Tensor& tensor = *document.items[0].tensor;
  file.write(npy_header(tensor.dtype(), tensor.sizes()));
  const RowMajorElements elements(tensor);
  file.write(elements.data(), elements.bytes());
}

void save_npz(OutputFile& file, const Document& document) {
  ZipWriter archive(file, document.compress);
  for (const auto& [name, tensor] : document.items) {
    if (name == kMetadataArray || name == kStructureArray)
      fail(OF_INVALID_ARGUMENT, "the name '%s' is reserved", name.c_str());
    const std::string header = npy_header(tensor->dtype(), tensor->sizes());
    const RowMajorElements elements(*tensor);
    archive.add(name + std::string(kArraySuffix), header.size() + elements.bytes(), [&](const ZipWriter::Sink& sink) {
      sink(header.data(), header.size());
      sink(elements.data(), elements.bytes());
    });
  }
  if (!document.metadata.empty()) add_text(archive, kMetadataArray, to_json(document.metadata));
  if (!document.structure.empty()) add_text(archive, kStructureArray, document.structure);
  archive.finish();
}

}  // namespace oneflow::files
