#include "parallel/processes/communicators.h"

#include <dlfcn.h>

#include "base/characters.h"
#include "base/error.h"
#include "base/shared_library.h"
#include "device/plugin_loading.h"

namespace oneflow::processes {

const of_communicator_table& find_communicator(const std::string& name) {
  const bool is_path = name.find('/') != std::string::npos;
  const std::string path = is_path ? name : (own_folder() / ("liboneflow_communicator_" + name + ".so")).string();
  std::string reason;
  void* const library = load_shared_library(path, &reason);
  if (!library)
    fail(OF_UNSUPPORTED, "the communicator '%s' cannot be loaded: %s", printable(name).c_str(), reason.c_str());
  using Find = const of_communicator_table*(void);
  auto* const find = reinterpret_cast<Find*>(dlsym(library, "oneflow_communicator"));
  const of_communicator_table* const table = find ? find() : nullptr;
  if (!table || table->version != OF_COMMUNICATOR_VERSION || table->struct_size < sizeof(of_communicator_table))
    fail(OF_UNSUPPORTED, "'%s' is not a communicator of this version", printable(path).c_str());
  return *table;
}

}  // namespace oneflow::processes
