#include "objects/tensor_file.h"

#include <mutex>

#include "base/error.h"
#include "base/shared_mutexes.h"
#include "objects/files.h"
#include "objects/results.h"

namespace oneflow::objects {
namespace {

SharedMutexes<LockLevel::kObjects> mutexes;

TensorFile& tensor_file_of(void* self) { return *static_cast<TensorFile*>(self); }

// Returns a reference to the file. Throws InvalidArgument if it is closed.
OpenFile open_file_of(void* self, const Results& results) {
  OpenFile file = tensor_file_of(self).file();
  if (!file) results.fail(OF_INVALID_ARGUMENT, "the file is closed");
  return file;
}

of_file_entry entry_at(const OpenFile& file, uint64_t position) {
  auto entry = sized<of_file_entry>();
  check(of_file_entry_at(file.get(), position, &entry));
  return entry;
}

// Returns the position of the tensor with a name. Throws InvalidArgument if there is none.
uint64_t position_of(const OpenFile& file, const char* name, const Results& results) {
  uint64_t position = 0;
  const of_status status = of_file_find(file.get(), name, &position);
  if (status == OF_INDEX_OUT_OF_RANGE) results.fail(OF_INVALID_ARGUMENT, "there is no tensor " + quoted(name));
  check(status);
  return position;
}

}  // namespace

OpenFile TensorFile::file() const {
  const std::lock_guard lock(mutexes.of(this));
  return OpenFile(of_file_retain(file_.get()));
}

void TensorFile::close() {
  OpenFile closed;
  const std::lock_guard lock(mutexes.of(this));
  closed.swap(file_);
}

of_status open_tensor_file(void*, const of_data* given, Results& results) {
  of_file file = nullptr;
  results.check_named(of_file_open(given[0].as.text, &file));
  results.give(results.object("TensorFile", new TensorFile(OpenFile(file))));
  return OF_OK;
}

of_status tensor_file_enter(void* self, const of_data*, Results& results) {
  open_file_of(self, results);
  return OF_OK;
}

of_status tensor_file_close(void* self, const of_data*, Results&) {
  tensor_file_of(self).close();
  return OF_OK;
}

of_status tensor_file_closed(void* self, const of_data*, Results& results) {
  results.give(results.boolean(!tensor_file_of(self).file()));
  return OF_OK;
}

of_status tensor_file_names(void* self, const of_data*, Results& results) {
  const OpenFile file = open_file_of(self, results);
  std::vector<of_data> names;
  for (uint64_t i = 0, count = of_file_count(file.get()); i < count; ++i)
    names.push_back(results.text(entry_at(file, i).name));
  results.give(results.list(names));
  return OF_OK;
}

of_status tensor_file_metadata(void* self, const of_data*, Results& results) {
  const OpenFile file = open_file_of(self, results);
  const of_file_metadata* pairs = nullptr;
  uint64_t count = 0;
  check(of_file_get_metadata(file.get(), &pairs, &count));
  std::vector<of_data> values;
  std::vector<std::string> keys;
  for (const of_file_metadata& pair : std::span(pairs, count)) {
    values.push_back(results.text(pair.value));
    keys.emplace_back(pair.key);
  }
  results.give(results.map(values, keys));
  return OF_OK;
}

// info(name)
of_status tensor_file_info(void* self, const of_data* given, Results& results) {
  const OpenFile file = open_file_of(self, results);
  const of_file_entry entry = entry_at(file, position_of(file, given[0].as.text, results));
  std::vector<of_data> sizes;
  for (int32_t i = 0; i < entry.rank; ++i) sizes.push_back(results.integer(entry.sizes[i]));
  results.give(results.list(
      {results.dtype(entry.dtype), results.text(entry.type), results.list(sizes), results.natural(entry.bytes)}));
  return OF_OK;
}

// read(name, device, mmap)
of_status tensor_file_read(void* self, const of_data* given, Results& results) {
  const OpenFile file = open_file_of(self, results);
  const uint64_t position = position_of(file, given[0].as.text, results);
  const of_read_options options = read_options(given[1], given[2]);
  of_tensor tensor = nullptr;
  results.check_named(of_file_read(file.get(), &position, 1, &options, &tensor));
  results.give(results.tensor(tensor));
  return OF_OK;
}

// load(device, mmap, flat)
of_status tensor_file_load(void* self, const of_data* given, Results& results) {
  give_all(open_file_of(self, results).get(), read_options(given[0], given[1]), given[2].as.boolean, results);
  return OF_OK;
}

}  // namespace oneflow::objects
