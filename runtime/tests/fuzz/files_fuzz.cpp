// A libFuzzer target for files of tensors: any content must be readable or give one of the documented errors. The first
// byte of an input selects the format; the rest is the file.
#include <memory>
#include <string>

#include "base/error.h"
#include "files/numpy.h"
#include "files/safetensors.h"
#include "files/structure.h"
#include "tests/fuzz/input_file.h"

namespace {

using namespace oneflow;
using namespace oneflow::files;

// Elements of more bytes are not read: allocating them is legitimate, but slow.
constexpr uint64_t kMostBytes = 1 << 22;

constexpr Contents (*kFormats[])(Ref<const SourceFile>) = {open_safetensors, open_npz, open_npy,
                                                           open_safetensors_index};

void read(const Contents& contents) {
  for (const Entry& entry : contents.entries) {
    if (entry.dtype == OF_DTYPE_NONE || entry.bytes > kMostBytes) continue;
    require(static_cast<int64_t>(entry.bytes) == count_bytes(entry.sizes, entry.dtype), "bytes and shape agree");
    const auto memory = std::make_unique<char[]>(entry.bytes);
    try {
      read_entry(entry, memory.get());
    } catch (const Error& error) {
      require(error.status() == OF_INVALID_ARGUMENT && entry.member, error.what());
    }
  }
  if (contents.structure.empty()) return;
  const Tree tree(contents.structure, contents.entries.size(), [&](const std::string& name) -> int64_t {
    for (size_t i = 0; i < contents.entries.size(); ++i)
      if (contents.entries[i].name == name) return static_cast<int64_t>(i);
    return -1;
  });
  require(tree.nodes().size() > 0, "a tree has a root");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes == 0) return 0;
  try {
    read(kFormats[data[0] % std::size(kFormats)](SourceFile::open(path_of(data + 1, bytes - 1))));
  } catch (const Error& error) {
    const of_status status = error.status();
    require(status == OF_INVALID_ARGUMENT || status == OF_SHAPE_ERROR || status == OF_UNSUPPORTED ||
                status == OF_DTYPE_ERROR || status == OF_FILE_ERROR,
            error.what());
    require(!error.text().empty(), "an error has a text");
  }
  return 0;
}
