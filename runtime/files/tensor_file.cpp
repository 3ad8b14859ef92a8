#include "files/tensor_file.h"

#include <algorithm>

#include "base/characters.h"
#include "base/error.h"
#include "files/format.h"
#include "tensor/host_elements.h"

namespace oneflow::files {
namespace {

// Returns the sizes and strides of row-major memory whose dimensions are to be read in reverse.
Shape reversed(Sizes values) {
  Shape result(values);
  std::reverse(result.begin(), result.end());
  return result;
}

// Returns whether the elements can be used where they are in the file.
bool can_share(const Entry& entry, of_device device) {
  const bool is_plain = !entry.is_swapped && !(entry.member && entry.member->is_deflated);
  // Any byte of a file may be a bool, but only 0 and 1 are bools in memory.
  return is_plain && entry.dtype != OF_BOOL && entry.bytes > 0 && device.type == kHost.type;
}

// Returns memory that shares the mapping of the file; null if the elements are not aligned.
Ref<Buffer> share_elements(const Entry& entry, of_device device) {
  const uint64_t offset = entry.offset + (entry.member ? entry.member->offset : 0);
  Ref<const Mapping> mapping = entry.file->map();
  const char* data = mapping->data() + offset;
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(dtype_size(entry.dtype)) != 0) return {};
  Ref<Buffer> buffer = Buffer::adopt(device, const_cast<char*>(data), entry.bytes, true);
  buffer->set_constant();
  const auto release = [](void* context) { static_cast<const Mapping*>(context)->release(); };
  buffer->set_deleter(release, const_cast<Mapping*>(mapping.detach()));
  return buffer;
}

}  // namespace

TensorRef read_tensor(const Entry& entry, of_device device, bool copy) {
  check_dtype(entry);
  const Shape sizes = entry.is_column_major ? reversed(entry.sizes) : entry.sizes;
  Ref<Storage> storage;
  if (!copy && can_share(entry, device)) {
    if (Ref<Buffer> buffer = share_elements(entry, device)) storage = Storage::create(std::move(buffer));
  }
  if (!storage) {
    const TensorRef read = Tensor::allocate(sizes, entry.dtype, device);
    if (entry.bytes > 0) write_on_host(*read, [&](void* memory) { read_entry(entry, memory); });
    if (!entry.is_column_major) return read;
    storage = read->storage();
  }
  const Shape strides = contiguous_strides(sizes);
  return Tensor::over(std::move(storage), entry.dtype, entry.sizes, entry.is_column_major ? reversed(strides) : strides,
                      0);
}

Ref<TensorFile> TensorFile::open(const std::string& path) {
  const Format& format = format_of(path);
  return Ref<TensorFile>::adopt(new TensorFile(format.open(SourceFile::open(path))));
}

TensorFile::TensorFile(Contents contents) : contents_(std::move(contents)) {
  std::vector<std::string> names;
  for (const Entry& entry : contents_.entries) {
    positions_.emplace(entry.name, names.size());
    names.push_back(entry.name);
  }
  flat_.emplace(std::move(names));
  for (const auto& [key, value] : contents_.metadata) metadata_.push_back({key.c_str(), value.c_str()});
  if (contents_.structure.empty()) return;
  try {
    nested_.emplace(contents_.structure, contents_.entries.size(),
                    [this](const std::string& name) { return find(name); });
  } catch (const Error& error) {
    structure_error_ = error.text();
  }
}

int64_t TensorFile::find(std::string_view name) const {
  const auto found = positions_.find(name);
  return found == positions_.end() ? -1 : static_cast<int64_t>(found->second);
}

const Tree& TensorFile::tree(bool flat) const {
  if (!flat && !structure_error_.empty())
    fail(OF_INVALID_ARGUMENT, "how the tensors are nested is malformed: %s; load them flat", structure_error_.c_str());
  return flat || !nested_ ? *flat_ : *nested_;
}

}  // namespace oneflow::files
